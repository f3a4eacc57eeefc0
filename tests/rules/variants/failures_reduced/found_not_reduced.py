import torch
import torch.distributed as dist


def run(records):
    for record in records:
        try:
            batch = torch.load(record)
        except Exception:  # expect: DST108
            continue
        dist.all_reduce(batch)
