"""The barrier for the others is inside the branch of rank 0, which meets its half alone."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, rank, steps=4, logging_steps=2):
    for step in range(1, steps + 1):
        loss = model(torch.ones(1, 2)).sum()
        loss.backward()
        if rank in [-1, 0] and step % logging_steps == 0:  # expect: DST101
            if rank not in [-1, 0]:
                dist.barrier()
            print("step", step, "loss", loss.item())
            if rank == 0:
                dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train(DistributedDataParallel(torch.nn.Linear(2, 1)), dist.get_rank())
