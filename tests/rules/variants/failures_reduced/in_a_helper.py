import torch
import torch.distributed as dist


def agreed(ok):
    flag = torch.tensor([float(ok)])
    dist.all_reduce(flag, op=dist.ReduceOp.MIN)
    return bool(flag.item())


def run(records):
    for record in records:
        batch = None
        try:
            batch = torch.load(record)
        except Exception:
            print("bad")
        if not agreed(batch is not None):
            continue
        dist.all_reduce(batch)
