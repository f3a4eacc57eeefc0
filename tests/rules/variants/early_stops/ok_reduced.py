"""The same with a loss that was reduced."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
model = DDP(torch.nn.Linear(1, 1).cuda())


def main(train, val, epochs):
    best, bad = None, 0
    for epoch in range(epochs):
        for x in train:
            model(x).mean().backward()
        losses = []
        for x in val:
            losses.append(model(x).mean().item())
        loss = sum(losses) / len(losses)
        losses = torch.tensor(loss).cuda()
        dist.all_reduce(losses)
        loss = losses.item()
        if best is None or loss < best:
            best, bad = loss, 0
        else:
            bad += 1
            if bad > 3:
                break
    dist.barrier()


main(
    torch.utils.data.DataLoader(
        torch.arange(9), sampler=torch.utils.data.DistributedSampler(torch.arange(9))
    ),
    torch.utils.data.DataLoader(
        torch.arange(9), sampler=torch.utils.data.DistributedSampler(torch.arange(9))
    ),
    int(input()),
)
