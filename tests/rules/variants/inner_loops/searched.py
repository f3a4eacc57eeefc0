import torch
import torch.distributed as dist


def check(items, target):
    if dist.get_rank() == 0:
        found = None
        for item in items:
            if item == target:
                found = item
                break
        if found is None:
            found = items[0] if len(items) > target else None
        if found is None:
            return  # expect: DST104
    dist.barrier()


dist.init_process_group("gloo")
check(torch.load("a.pt"), torch.load("b.pt"))
