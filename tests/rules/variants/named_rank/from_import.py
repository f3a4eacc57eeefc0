from torch import distributed as dist


def train(loader, rank):
    if rank == 0:  # expect: DST101
        dist.broadcast(loader, src=0)
