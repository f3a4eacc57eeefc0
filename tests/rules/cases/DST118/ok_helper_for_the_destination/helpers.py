import torch.distributed as dist


def summed(x):
    dist.all_reduce(x)
    return x


def in_place(x):
    return dist.all_reduce(x)


def to_first(x):
    dist.reduce(x, dst=0)


def shared(x):
    dist.broadcast(x, src=0)
    return x.item()


def show(x, rank):
    if rank == 0:
        print("mean", x.item())
