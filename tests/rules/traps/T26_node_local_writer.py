"""T26. LOCAL_RANK == 0 copies to storage of the node: one writer a node is meant."""

import os
import shutil
import tempfile

import torch.distributed as dist


def node_scratch():
    return os.environ.get("NODE_SCRATCH", tempfile.gettempdir())


dist.init_process_group("gloo")
dataset_dir = tempfile.mkdtemp()
if int(os.environ["LOCAL_RANK"]) == 0:
    target = os.path.join(node_scratch(), f"data-{os.getpid()}")
    shutil.copytree(dataset_dir, target)
    shutil.rmtree(target)
dist.barrier()
dist.destroy_process_group()
