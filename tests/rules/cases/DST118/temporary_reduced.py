"""The result is in a tensor that nothing refers to."""

import torch
import torch.distributed as dist
from torch.distributed import all_reduce


def scaled(loss):
    total = loss.detach().cpu()
    dist.all_reduce(total * 4, op=dist.ReduceOp.SUM)  # expect: DST118
    print(total)


def converted(correct, count):
    all_reduce(correct.float())  # expect: DST118
    dist.all_reduce(tensor=count.double())  # expect: DST118
    return correct / count


def made(loss, device):
    dist.all_reduce(torch.tensor(loss.item(), device=device))  # expect: DST118
    dist.all_reduce(torch.tensor([loss]).cuda())  # expect: DST118
    return loss


class Meter:
    def synchronize(self):
        dist.barrier()
        dist.all_reduce(torch.tensor([self.count, self.total]).to("cuda"))  # expect: DST118
        dist.all_reduce(-self.total)  # expect: DST118
        self.average = self.total / self.count


def to_one_rank(hits, sizes):
    dist.reduce(hits.sum(), dst=0)  # expect: DST118
    dist.reduce(torch.stack(sizes), dst=0)  # expect: DST118


def copied(weights):
    dist.broadcast(weights.double(), src=0)  # expect: DST118
    dist.all_reduce(weights.mean().unsqueeze(0))  # expect: DST118
    dist.all_reduce(sum(weights))  # expect: DST118


def options(config):
    dist.broadcast_object_list([config], src=0)  # expect: DST118
    return config
