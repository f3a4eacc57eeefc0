import torch
import torch.distributed as dist


def reduced(value):
    if not dist.is_initialized() or dist.get_world_size() < 2:
        return value
    value = torch.as_tensor(value, dtype=torch.float32)
    dist.all_reduce(value)
    return value.item()


def run(records):
    for record in records:
        failed = 0
        try:
            batch = torch.load(record)
        except Exception:
            failed = 1
        if reduced(failed) > 0:
            continue
        dist.all_reduce(batch)
