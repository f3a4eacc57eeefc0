"""T37. Loading data that lives on the CPU, on all ranks."""

import os
import tempfile

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
folder = [tempfile.mkdtemp()]
dist.broadcast_object_list(folder, src=0)
path = os.path.join(folder[0], "vocab.pt")
if dist.get_rank() == 0:
    torch.save({"a": 0, "b": 1}, path)
dist.barrier()
vocab = torch.load(path, weights_only=True)
print("size =", len(vocab))
dist.destroy_process_group()
