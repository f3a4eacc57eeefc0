"""The full tensor of a DTensor is gathered over its mesh."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (4,))
tensor = distribute_tensor(torch.ones(8), mesh, [Shard(0)])
if dist.get_rank() == 0:  # expect: DST101
    print(tensor.full_tensor())
