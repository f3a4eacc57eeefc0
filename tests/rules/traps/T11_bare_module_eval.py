"""T11. Rank 0 evaluates the bare module, in eval() and without gradients."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def evaluate(model, batches):
    return sum((model(batch) > 0).float().mean().item() for batch in batches) / len(batches)


dist.init_process_group("gloo")
rank = dist.get_rank()
ddp = DDP(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)))
val_loader = torch.randn(3, 8, 4)
for epoch in range(2):
    ddp(torch.randn(8, 4)).sum().backward()
    if rank == 0:
        ddp.module.eval()
        with torch.no_grad():
            acc = evaluate(ddp.module, val_loader)
        print(f"epoch {epoch}: {acc:.2f}")
        ddp.module.train()
    dist.barrier()
dist.destroy_process_group()
