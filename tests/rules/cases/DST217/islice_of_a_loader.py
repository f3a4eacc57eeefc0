from itertools import islice

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(args, model, optimizer, data):
    dist.init_process_group("nccl")
    model = DDP(model)
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    if args.resume:
        loader = islice(loader, args.skipped, None)  # expect: DST217
    for epoch in range(args.first_epoch, args.epochs):
        for batch in loader:
            model(batch).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
