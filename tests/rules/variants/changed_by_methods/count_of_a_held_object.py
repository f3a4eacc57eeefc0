"""A method counts on rank 0."""

import torch
import torch.distributed as dist


class Counter:
    def __init__(self):
        self.failures = 0

    def failed(self):
        self.failures += 1


def main(steps):
    dist.init_process_group("gloo")
    counter = Counter()
    for step in range(steps):
        loss = torch.ones(1)
        dist.all_reduce(loss)
        if dist.get_rank() == 0 and loss.item() > 3:
            counter.failed()
        if counter.failures > 2:  # expect: DST110
            break
    dist.barrier()
