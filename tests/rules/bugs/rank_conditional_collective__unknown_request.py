"""A request that this rank does not know skips the helper in which all ranks agree."""
# effect: hang

import random

import torch
import torch.distributed as dist


def all_agree(flag):
    vote = torch.tensor(int(flag))
    dist.all_reduce(vote, op=dist.ReduceOp.MIN)
    return bool(vote.item())


class Prefetcher:
    def __init__(self):
        self.running = {}

    def accept(self, requests):
        for request in requests:
            if random.random() < 0.5:
                self.running[request] = True

    def done(self, request):
        if request not in self.running:
            return True  # expect: DST117
        return all_agree(self.running[request])


dist.init_process_group("gloo")
random.seed(3 + dist.get_rank())
prefetcher = Prefetcher()
prefetcher.accept(range(4))
for request in range(4):
    prefetcher.done(request)
dist.barrier()
