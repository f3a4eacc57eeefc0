"""A rank with nothing pending returns before the reduction that agrees on the progress."""
# effect: hang

import random

import torch
import torch.distributed as dist


class TransferQueue:
    def __init__(self):
        self.pending = [job for job in range(4) if random.random() < 0.3]

    def finished(self):
        if not self.pending:
            return 0  # expect: DST117
        ready = torch.tensor(len(self.pending))
        dist.all_reduce(ready, op=dist.ReduceOp.MIN)
        del self.pending[: int(ready)]
        return int(ready)


dist.init_process_group("gloo")
random.seed(4 + dist.get_rank())
queue = TransferQueue()
print("moved", queue.finished())
dist.barrier()
