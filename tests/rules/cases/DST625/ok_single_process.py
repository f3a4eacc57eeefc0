import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, loader):
    if args.local_rank != -1:
        dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    if args.local_rank != -1:
        model = DDP(model)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        if args.local_rank == -1:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if args.local_rank >= 0:
            optimizer.step()
            scheduler.step()
