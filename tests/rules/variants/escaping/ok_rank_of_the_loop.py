"""What the function around it defines is no rank."""

import torch
import torch.distributed as dist


def watch(model, config):
    rank = config.adapter_rank

    def hook(grad):
        if rank == 0:
            dist.all_reduce(grad)
        return grad

    model.register_hook(hook)
