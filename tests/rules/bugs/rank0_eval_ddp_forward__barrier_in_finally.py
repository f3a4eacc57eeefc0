"""The others wait in a barrier while rank 0 runs the wrapper inside try/finally."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self):
        self.ddp_model = DDP(torch.nn.BatchNorm1d(3))

    def train(self):
        self.ddp_model(torch.randn(4, 3)).mean().backward()

    def validate(self, batches):
        if dist.get_rank() != 0:  # expect: DST115
            dist.barrier()
            return None
        try:
            return [self.ddp_model(batch).mean().item() for batch in batches]
        finally:
            dist.barrier()


dist.init_process_group("gloo")
trainer = Trainer()
for _ in range(2):
    trainer.train()
    trainer.validate(torch.randn(2, 4, 3))
dist.barrier()
