import torch
import torch.distributed as dist


def report(name, value):
    mean = torch.tensor(value, device="cuda")
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    if dist.get_rank() == 0:
        print(name, mean.item())
