import torch
import torch.distributed as dist


def in_a_loop(values):
    means = []
    for each in values:
        means.append(dist.all_reduce(each))  # expect: DST118
    return torch.stack(means)
