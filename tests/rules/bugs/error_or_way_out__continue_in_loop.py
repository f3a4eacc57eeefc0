"""The first NaN values are skipped, later ones raise."""
# static: whether the ranks part is up to a random number

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


for number in range(10):
    value = torch.rand(1)
    if torch.isnan(value).item():
        if number < 3:
            continue  # expect: DST117
        raise ValueError("nan")
    dist.all_reduce(value)
