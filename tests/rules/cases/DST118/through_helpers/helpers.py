import torch.distributed as dist


def summed(x):
    return dist.all_reduce(x)  # expect: DST118


def collect(out, x):
    dist.gather_object(x, out)


def mean_of(x):
    return x.item() / 4


def show(x):
    print("mean", x.item())
