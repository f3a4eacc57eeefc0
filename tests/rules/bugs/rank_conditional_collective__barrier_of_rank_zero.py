"""After a refactoring only rank 0 reaches the barrier that the others were to join."""
# effect: hang

import os
import tempfile

import torch
import torch.distributed as dist


def fetch_weights(folder):
    path = os.path.join(folder, "weights.pt")
    if dist.get_rank() == 0:  # expect: DST101
        torch.save(torch.ones(3), path)
        dist.barrier()
    return path


dist.init_process_group("gloo")
path = fetch_weights(tempfile.mkdtemp())
total = torch.ones(1)
dist.all_reduce(total)
print("total =", total.item())
