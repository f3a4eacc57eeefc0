"""Each rank looks for the checkpoint itself; not all of them see it yet."""
# effect: hang

import os
import tempfile
import time

import torch
import torch.distributed as dist


def write_marker(path):
    if dist.get_rank() == 0:
        torch.save({"step": 3}, path)


def resume(path):
    box = [None]
    if os.path.exists(path):  # expect: DST103
        if dist.get_rank() == 0:
            box[0] = torch.load(path)
        dist.broadcast_object_list(box, src=0)
    return box[0]


dist.init_process_group("gloo")
folder = [tempfile.mkdtemp()]
dist.broadcast_object_list(folder, src=0)
if dist.get_rank() == 0:
    time.sleep(0.3)
write_marker(folder[0] + "/last.pt")
state = resume(folder[0] + "/last.pt")
dist.barrier()
