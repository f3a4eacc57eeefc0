import torch
import torch.distributed as dist


def run(records):
    for record in records:
        error = None
        try:
            batch = torch.load(record)
        except Exception as problem:
            error = str(problem)
        errors = [None] * dist.get_world_size()
        dist.all_gather_object(errors, error)
        if any(each is not None for each in errors):
            continue
        dist.all_reduce(batch)
