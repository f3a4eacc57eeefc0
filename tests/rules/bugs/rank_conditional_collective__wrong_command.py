"""Rank 0 sends the command to answer, and does not take the answer."""
# effect: hang

import torch
import torch.distributed as dist


def follow():
    while True:
        command = torch.empty(1, dtype=torch.long)
        dist.broadcast(command, src=0)
        if command.item() == 0:
            dist.all_reduce(torch.ones(1))
        elif command.item() == 1:
            return


dist.init_process_group("gloo")
if dist.get_rank() == 0:  # expect: DST105
    dist.broadcast(torch.tensor([0]), src=0)
    dist.broadcast(torch.tensor([1]), src=0)
else:
    follow()
dist.destroy_process_group()
