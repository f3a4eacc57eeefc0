"""What is printed alone does no harm."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, optimizer, rank):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if step % 10 == 0:
            dist.all_reduce(loss)
            if rank == 0:
                print(loss.item())
        if loss.item() > 10 and rank == 0:
            print("large")
        optimizer.step()
