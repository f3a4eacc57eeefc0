"""Rank 0 alone saves a DeepSpeed engine, behind an early return."""
# static: needs deepspeed and a GPU
# needs: deepspeed

import deepspeed
import torch
import torch.distributed as dist


class Runner:
    def __init__(self, net, config):
        self.rank = dist.get_rank()
        self.engine, *_ = deepspeed.initialize(model=net, config=config)

    def snapshot(self, folder, step):
        if self.rank != 0:
            return  # expect: DST407
        self.engine.save_checkpoint(folder, tag=f"step{step}")

    def fit(self, batches):
        for step, batch in enumerate(batches):
            loss = self.engine(batch).mean()
            self.engine.backward(loss)
            self.engine.step()
            if step % 100 == 0:
                self.snapshot("checkpoints", step)


deepspeed.init_distributed()
Runner(torch.nn.Linear(4, 4), "zero2.json").fit(torch.randn(200, 1, 4, device="cuda"))
