"""The test set is scored on rank 0 with a metric that synchronises in compute()."""
# effect: hang
# needs: torchmetrics

import torch
import torch.distributed as dist
import torchmetrics
from torch.nn.parallel import DistributedDataParallel as DDP


def run(rank):
    accuracy = torchmetrics.classification.MulticlassAccuracy(num_classes=3)
    ddp = DDP(torch.nn.Linear(4, 3))
    ddp(torch.randn(2, 4)).mean().backward()
    if rank == 0:  # expect: DST116
        for x in torch.randn(3, 5, 4):
            accuracy.update(ddp.module(x), torch.ones(5, dtype=torch.long))
        print(f"accuracy {accuracy.compute().item():.2f}")
    dist.barrier()


dist.init_process_group("gloo")
run(dist.get_rank())
