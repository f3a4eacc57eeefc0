import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


from engine import epoch


def main(net, loader, accum):
    dist.init_process_group("nccl")
    parts = {"model": DDP(net.cuda())}
    optimizer = torch.optim.SGD(parts["model"].parameters(), lr=0.1)
    epoch(parts["model"], optimizer, loader, accum)
