import torch.distributed as dist


def start(x, src=0):
    """Send it, in the background."""
    return dist.broadcast(x, src, async_op=True)


def total(x):
    return x.view(-1).sum()
