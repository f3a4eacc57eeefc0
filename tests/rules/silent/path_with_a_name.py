"""Each rank has a folder of its own; the path in it has a name at its end on all of them."""

import os
import tempfile

import torch.distributed as dist


class Loader:
    def load(self, path):
        if path and dist.is_initialized():
            found = [None] * dist.get_world_size()
            dist.all_gather_object(found, os.path.isfile(path))
            return all(found)
        return False


dist.init_process_group("gloo")
with tempfile.TemporaryDirectory() as folder:
    print(Loader().load(os.path.join(folder, "checkpoint.pth")))
dist.destroy_process_group()
