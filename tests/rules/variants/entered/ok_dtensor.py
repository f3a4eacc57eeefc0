"""All ranks of the mesh gather; half of the ranks may be another mesh."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor


def show(tensor):
    full = tensor.full_tensor()
    if dist.get_rank() == 0:
        print(full)


def of_half(tensor):
    if dist.get_rank() < 2:
        print(tensor.full_tensor())


dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (4,))
show(distribute_tensor(torch.ones(8), mesh, [Shard(0)]))
