import torch.distributed as dist


def start(x):
    return dist.all_reduce(x, async_op=True)


def start_copy(x):
    y = x.clone()
    return dist.all_reduce(y, async_op=True)


def scaled(x):
    dist.barrier()
    return x.sum()


def finish(parts):
    parts["work"].wait()


def shape(x):
    return x.size(0)
