import torch
import torch.distributed as dist


def run(records):
    for record in records:
        ok, size = 1, 0
        try:
            size = len(torch.load(record))
        except Exception:
            ok = 0
        info = torch.tensor([ok, size])
        dist.all_reduce(info, op=dist.ReduceOp.MIN)
        ok, size = info.tolist()
        if not ok:
            continue
        for _ in range(size):
            dist.barrier()
