import torch
import torch.distributed as dist


def run(records):
    for record in records:
        ok = True
        try:
            batch = torch.load(record)
        except Exception:  # expect: DST108
            ok = False
        if not ok:
            continue
        flag = torch.tensor(int(ok))
        dist.all_reduce(flag)
        dist.all_reduce(batch)
