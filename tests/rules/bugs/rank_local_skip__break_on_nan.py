"""The rank that sees a NaN leaves the loop."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, batches, optimizer):
    for batch in batches:
        optimizer.zero_grad()
        loss = model(batch).mean()
        if torch.isnan(loss) or torch.isinf(loss):
            optimizer.zero_grad()
            break  # expect: DST102
        loss.backward()
        optimizer.step()


dist.init_process_group("gloo")
batches = torch.ones(4, 2, 3)
if dist.get_rank() == 1:
    batches[1] = float("nan")
model = DDP(torch.nn.Linear(3, 1))
train(model, batches, torch.optim.SGD(model.parameters(), lr=0.1))
dist.barrier()
