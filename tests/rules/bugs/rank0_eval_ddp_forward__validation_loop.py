"""The validation of the first GPU calls the wrapper, the others wait in a barrier."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def fit_one(model, batches):
    for batch in batches:
        model(batch).mean().backward()


def worker(gpu):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    model = DDP(net)
    for epoch in range(3):
        fit_one(model, torch.randn(2, 4, 3))
        if gpu == 0:  # expect: DST115
            with torch.no_grad():
                for batch in torch.randn(2, 4, 3):
                    model(batch)
            print(f"epoch {epoch} validated")
        dist.barrier()


dist.init_process_group("gloo")
worker(gpu=dist.get_rank())
