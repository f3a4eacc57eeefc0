"""A loss that is not finite on this rank is skipped between forward and backward."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def run_epoch(model, batches, optimizer):
    for batch in batches:
        loss = model(batch).mean()
        if not torch.isfinite(loss):
            print("bad loss, skipping")
            continue  # expect: DST117
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


dist.init_process_group("gloo")
batches = torch.ones(4, 2, 3)
if dist.get_rank() == 1:
    batches[1] = float("inf")
model = DDP(torch.nn.Linear(3, 1))
run_epoch(model, batches, torch.optim.SGD(model.parameters(), lr=0.1))
dist.barrier()
