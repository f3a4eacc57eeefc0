import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader, profiler, env):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        if rank == 0:
            profiler.step()
            env.step(0)
            rates = [group["lr"] for group in optimizer.param_groups]
            logged = {"lr": rates[0]}
            logged["lr"] = rates[-1]
            print(logged)
