import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        model(batch).mean().backward()
        if rank == 0:
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST625
            print(step, norm)
        optimizer.step()
        if rank == 0:
            optimizer.zero_grad()  # expect: DST625
