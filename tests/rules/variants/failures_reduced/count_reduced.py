import torch
import torch.distributed as dist


def run(records):
    good = 0
    for record in records:
        try:
            torch.load(record)
            good += 1
        except Exception:
            continue
    count = torch.tensor([good])
    dist.all_reduce(count)
    if count.item() < 10:
        return
    dist.barrier()
