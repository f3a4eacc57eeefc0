"""All ranks reduce and rank 0 prints."""

import torch
import torch.distributed as dist


def watch(model):
    def hook(module, args, output):
        dist.all_reduce(output)
        if dist.get_rank() == 0:
            print(output)

    model.register_forward_hook(hook)
