"""The source asks the tensor that it has sent, the others the number that they took out of it."""

import torch
import torch.distributed as dist


def share(ids):
    if dist.get_rank() == 0:
        count = torch.tensor(ids.numel())
        dist.broadcast(count, src=0)
    else:
        count = torch.tensor(0)
        dist.broadcast(count, src=0)
        count = count.item()
        ids = torch.empty(count, dtype=torch.int64)
    if count > 0:
        dist.broadcast(ids, src=0)
    return ids


dist.init_process_group("gloo")
share(torch.arange(3) if dist.get_rank() == 0 else None)
dist.barrier()
dist.destroy_process_group()
