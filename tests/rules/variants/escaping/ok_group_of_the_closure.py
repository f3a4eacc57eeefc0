"""It meets members of its group."""

import torch
import torch.distributed as dist


def watch(model, group, members):
    def hook(grad):
        if dist.get_rank() in members:
            dist.all_reduce(grad, group=group)
        return grad

    model.register_hook(hook)
