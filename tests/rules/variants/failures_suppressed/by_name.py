"""The same by the name alone."""

from contextlib import suppress

import torch
import torch.distributed as dist


def step(row):
    with suppress(ValueError):  # expect: DST108
        value = torch.tensor(float(row))
        dist.all_reduce(value)


dist.init_process_group("gloo")
for row in ["1", "2" if dist.get_rank() else "x"]:
    step(row)
