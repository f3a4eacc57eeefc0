import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, RandomSampler


def main(data, net, opt, rank, world):
    dist.init_process_group("nccl")
    torch.manual_seed(5 + rank)
    model = DDP(net)
    loader = DataLoader(data, 8, sampler=RandomSampler(data))
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
