"""A rank whose write fails gives up; the others wait for it behind the retries."""
# effect: hang

import os
import tempfile

import torch
import torch.distributed as dist


def save_shard(folder, rank, retries=2):
    for attempt in range(retries):
        try:
            torch.save(torch.ones(2), os.path.join(folder, f"shard-{rank}", "state.pt"))
            break
        except (OSError, RuntimeError):  # expect: DST108
            print(f"rank {rank}: attempt {attempt} failed")
            if attempt == retries - 1:
                return False
    dist.barrier()
    return True


dist.init_process_group("gloo")
rank = dist.get_rank()
folder = tempfile.mkdtemp()
if rank == 0:
    os.mkdir(os.path.join(folder, "shard-0"))
save_shard(folder, rank)
