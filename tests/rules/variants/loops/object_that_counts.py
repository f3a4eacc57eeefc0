"""The same in an object that is called."""

import torch.distributed as dist


class Step:
    def __init__(self, every):
        self.every, self.n = every, 0
        self.rank = dist.get_rank()

    def __call__(self, x):
        self.n += 1
        r = self.n % self.every
        if r:
            return
        if self.rank == 0:  # expect: DST101
            dist.reduce(x, 0)


def main(xs):
    dist.init_process_group("nccl")
    s = Step(2)
    for x in xs:
        s(x)


main(open("a"))
