import torch
import torch.distributed as dist


class Runner:
    def __init__(self):
        self.failed = torch.zeros(1)

    def step(self, record):
        self.failed.zero_()
        try:
            batch = torch.load(record)
        except Exception:
            self.failed.fill_(1)
        dist.all_reduce(self.failed, op=dist.ReduceOp.MAX)
        if self.failed.item() > 0:
            return
        dist.all_reduce(batch)
