"""`forward` of a model whose layers FSDP2 shards passes its own hooks, not those of the layers."""
# effect: hang

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
for layer in model:
    fully_shard(layer, mesh=mesh)
model = fully_shard(model, mesh=mesh)
if rank == 0:  # expect: DST115
    print(model.forward(torch.ones(2, 4)).shape)
dist.barrier()
dist.destroy_process_group()
