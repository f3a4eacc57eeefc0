import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


@torch.no_grad()
def evaluate(model, batches):
    right = torch.stack([(model(x) > 0).sum() for x in batches]).sum()
    dist.all_reduce(right)
    return right.item()


dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
batches = torch.randn(4, 2, 3)
for x in batches:
    model.module(x).mean().backward()  # expect: DST613
    optimizer.step()
    optimizer.zero_grad()
print(evaluate(model, batches))
