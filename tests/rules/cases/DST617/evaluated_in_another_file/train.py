import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from evaluation import evaluate


def main(net, data, epochs):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DDP(net)
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    best = 0.0
    for epoch in range(epochs):
        accuracy = evaluate(model, val_loader)
        if rank == 0 and accuracy > best:
            best = accuracy
            torch.save(model.module.state_dict(), "best.pt")
