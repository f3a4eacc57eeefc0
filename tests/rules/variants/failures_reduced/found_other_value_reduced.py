import torch
import torch.distributed as dist


def run(records):
    for record in records:
        failed = torch.zeros(1)
        step = torch.ones(1)
        try:
            batch = torch.load(record)
        except Exception:
            failed.fill_(1)
        dist.all_reduce(step)
        if failed.item():
            continue  # expect: DST117
        dist.all_reduce(batch)
