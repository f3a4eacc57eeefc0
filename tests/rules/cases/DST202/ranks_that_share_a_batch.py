import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.tensor.parallel import parallelize_module
from torch.utils.data import DataLoader


def main(data, net, opt, mesh, plan):
    dist.init_process_group("nccl")
    model = FSDP(parallelize_module(net, mesh["tp"], plan))
    loader = DataLoader(data, 8, shuffle=True)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
