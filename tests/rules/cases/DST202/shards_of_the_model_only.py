import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from torch.utils.data import DataLoader


def main(data, net, opt):
    dist.init_process_group("nccl")
    model = FSDP(net, sharding_strategy=ShardingStrategy.FULL_SHARD)
    loader = DataLoader(data, 8, shuffle=True)  # expect: DST202
    for batch in loader:
        chunk = batch[:, :512]
        model(chunk).mean().backward()
        opt.step()
