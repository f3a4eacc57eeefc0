"""The best loss is judged by the result of a reduce, which is valid on rank 0 only."""
# effect: hang

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def end_of_epoch(model, loss_sum, best):
    dist.reduce(loss_sum, dst=0, op=dist.ReduceOp.SUM)
    mean = loss_sum.item() / dist.get_world_size()  # expect: DST118
    if mean < best:
        best = mean
        state = model.state_dict()
        if dist.get_rank() == 0:
            print(f"saving {len(state)} tensors at {mean}")
    return best


dist.init_process_group("gloo")
rank = dist.get_rank()
model = FSDP(torch.nn.Linear(2, 2), device_id=torch.device("cpu"))
best = 1.2
for epoch in range(2):
    best = end_of_epoch(model, torch.tensor(1.0 + rank), best)
dist.barrier()
