import torch.distributed as dist

KEPT = []


def ranks_of(step):
    return [step % 2, 2]


def drawn(size):
    return sorted(shuffled(size))


def keep(x, group):
    KEPT.append(group)
    dist.all_reduce(x, group=group)


def summed(x, group):
    dist.all_reduce(x, group=group)
