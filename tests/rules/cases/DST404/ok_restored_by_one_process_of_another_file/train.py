import torch
import torch.distributed as dist
from files import read
from torch.nn.parallel import DistributedDataParallel as DDP


def main(path):
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 1).cuda())
    features = read(path)
    return model(features.cuda())
