import torch
import torch.distributed as dist
from evaluation import evaluate
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    score = evaluate(DDP(net), val_loader)
    if dist.get_rank() == 0:
        print("score", score)
