"""It is an entry of a dict."""

import torch
import torch.distributed as dist


def handlers():
    def end(x):
        if dist.get_rank() == 0:  # expect: DST101
            dist.all_reduce(x)

    return {"end": end}
