import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, batches, meter, has_data, stop):
    for batch in batches:
        dist.all_reduce(has_data)
        model(batch).backward()
        if dist.get_rank() == 0:
            if meter.is_bad:
                return False
        if meter.is_bad:
            break
