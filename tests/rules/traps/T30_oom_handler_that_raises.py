"""T30. A handler for "out of memory" that shows the memory and raises again."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def train_step(batch):
    opt.zero_grad()
    loss = model(batch).mean()
    loss.backward()
    opt.step()
    return loss.item()


for batch in torch.randn(3, 2, 4):
    try:
        train_step(batch)
    except torch.cuda.OutOfMemoryError:
        print(torch.cuda.memory_summary())
        raise
dist.destroy_process_group()
