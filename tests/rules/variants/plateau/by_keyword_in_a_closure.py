"""The metric by keyword, in a function inside the function."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def run(rank, net, loader):
    dist.init_process_group("nccl", rank=rank)
    model = DDP(net.to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)

    def end_of_epoch(epoch, metric):
        print(epoch, metric)
        sched.step(metrics=metric)  # expect: DST623

    for epoch in range(5):
        best = 0.0
        for batch in loader:
            output = model(batch)
            output.sum().backward()
            optimizer.step()
            best = max(best, output.max().item())
        end_of_epoch(epoch, best)


torch.multiprocessing.spawn(run, args=(torch.nn.Linear(1, 1), make_loader()), nprocs=2)
