import torch
import torch.distributed as dist


def run(records):
    for record in records:
        try:
            value = torch.load(record)
        except Exception:
            value = torch.zeros(1)
        value /= dist.get_world_size()
        dist.all_reduce(value)
        if value > 0.5:
            dist.barrier()
