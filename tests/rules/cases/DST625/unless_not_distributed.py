import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, loader):
    if args.distributed:
        dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    if args.distributed:
        model = DDP(model)
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for epoch in range(args.epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        if not args.distributed or args.rank == 0:
            scheduler.step()  # expect: DST625
            torch.save(model.state_dict(), "last.pt")
