"""The main process alone is noted on an optimizer, and a helper asks for it."""
# effect: hang

import torch
import torch.distributed as dist


def chosen(optimizer):
    return optimizer.chosen


dist.init_process_group("gloo")
optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
optimizer.chosen = dist.get_rank() == 0
if chosen(optimizer):  # expect: DST101
    dist.barrier()
dist.destroy_process_group()
