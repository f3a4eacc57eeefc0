"""A batch without anchors raises in the forward of one rank, and is skipped there."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class NoValidAnchors(Exception):
    pass


class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, x):
        if x.abs().sum() == 0:
            raise NoValidAnchors
        return self.layer(x)


dist.init_process_group("gloo")
model = DDP(Detector())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.ones(3, 2, 3)
if dist.get_rank() == 1:
    batches[1] = 0
for batch in batches:
    try:
        loss = model(batch).mean()
    except NoValidAnchors:  # expect: DST108
        continue
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
dist.barrier()
