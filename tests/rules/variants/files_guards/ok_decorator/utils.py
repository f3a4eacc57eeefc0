import functools
import torch
import torch.distributed as dist


def main_only(f):
    @functools.wraps(f)
    def run(*a, **k):
        if dist.get_rank() == 0:
            return f(*a, **k)

    return run


@main_only
def save(state, path):
    torch.save(state, path)
