import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(rank, world, loader):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    model = DDP(torch.nn.Linear(2, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler()
    for batch in loader:
        opt.zero_grad()
        with torch.autocast("cuda"):
            loss = model(batch).mean()
        scaler.scale(loss).backward()
        if not rank > 0:
            scaler.step(opt)  # expect: DST625
        scaler.update()
