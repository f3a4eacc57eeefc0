"""A hook that a model is given."""

import torch
import torch.distributed as dist


def watch(model):
    def hook(module, args, output):
        if dist.get_rank() == 0:  # expect: DST101
            dist.all_reduce(output)

    model.register_forward_hook(hook)
