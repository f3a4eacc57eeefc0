"""A sharded submodule runs only where the batch holds an image."""
# effect: hang

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard


class Captioner(torch.nn.Module):
    def __init__(self, mesh):
        super().__init__()
        self.vision = fully_shard(torch.nn.Linear(4, 4), mesh=mesh)
        self.text = fully_shard(torch.nn.Linear(4, 4), mesh=mesh)

    def forward(self, ids, pixels=None):
        out = self.text(ids)
        if pixels is not None:  # expect: DST103
            out = out + self.vision(pixels)
        return out


dist.init_process_group("gloo")
model = Captioner(dist.init_device_mesh("cpu", (dist.get_world_size(),)))
torch.manual_seed(1 + dist.get_rank())
for step in range(3):
    ids = torch.randn(2, 4)
    batch = {"ids": ids, "pixels": torch.randn(2, 4) if ids[0, 0] > 0 else None}
    model(batch["ids"], batch["pixels"]).mean().backward()
dist.barrier()
