"""A flag that the handler sets decides in the finally whether this rank joins the barrier."""
# effect: hang

import os
import tempfile

import torch
import torch.distributed as dist


def collect(rows, folder):
    failed = False
    try:
        torch.save(rows, os.path.join(folder, "rows.pt"))
    except (OSError, RuntimeError):  # expect: DST108
        failed = True
    finally:
        if not failed:
            dist.barrier()
    return not failed


dist.init_process_group("gloo")
folder = tempfile.mkdtemp()
if dist.get_rank() == 1:
    os.rmdir(folder)
collect(torch.ones(2), folder)
