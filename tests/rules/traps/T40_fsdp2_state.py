"""T40. A full state dict of an FSDP2 model: collected on all ranks, saved by rank 0."""

import os
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
model(torch.ones(1, 4)).sum().backward()
path = os.path.join(tempfile.mkdtemp(), "model.pt")
state = get_model_state_dict(
    model, options=StateDictOptions(full_state_dict=True, cpu_offload=True)
)
if rank == 0:
    torch.save(state, path)
dist.barrier()
dist.destroy_process_group()
