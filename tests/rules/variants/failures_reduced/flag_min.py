import torch
import torch.distributed as dist


def run(records):
    for record in records:
        ok = torch.ones(1)
        try:
            batch = torch.load(record)
        except Exception:
            ok.zero_()
        dist.all_reduce(ok, op=dist.ReduceOp.MIN)
        if ok.item() == 0:
            continue
        dist.all_reduce(batch)
