"""T43. A moving average of the weights lives on rank 0 and is only read there."""

import copy
import os
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class EMA:
    def __init__(self, model, decay=0.9):
        self.model = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)

    def state_dict(self):
        return self.model.state_dict()


dist.init_process_group("gloo")
rank = dist.get_rank()
ddp = DDP(torch.nn.Linear(3, 1))
opt = torch.optim.SGD(ddp.parameters(), lr=0.1)
if rank == 0:
    ema = EMA(ddp.module)
    folder = tempfile.mkdtemp()
for step in range(3):
    opt.zero_grad()
    ddp(torch.randn(4, 3)).mean().backward()
    opt.step()
    if rank == 0:
        ema.update(ddp.module)
        torch.save(ema.state_dict(), os.path.join(folder, "ema.pt"))
dist.barrier()
dist.destroy_process_group()
