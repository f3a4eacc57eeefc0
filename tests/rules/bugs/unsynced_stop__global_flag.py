"""A helper sets a global on the late rank, and that rank alone goes on to the collective."""
# effect: hang

import time

import torch
import torch.distributed as dist

LIMIT = 0.05
late = False


def note_late():
    global late
    late = True


dist.init_process_group("gloo")
started = time.time()
if dist.get_rank() == 1:
    time.sleep(2 * LIMIT)
if time.time() - started > LIMIT:
    note_late()
if late:  # expect: DST103
    dist.all_reduce(torch.ones(1))
