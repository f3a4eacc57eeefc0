import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from torch.utils.data import DataLoader


def main(data, net, opt, mine):
    dist.init_process_group("nccl")
    model = FSDP(net, sharding_strategy=ShardingStrategy.FULL_SHARD)
    rows = torch.arange(len(data)).chunk(dist.get_world_size())[dist.get_rank()]
    loader = DataLoader(mine(data, rows), 8, shuffle=True)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
