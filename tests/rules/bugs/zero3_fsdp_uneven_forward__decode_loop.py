"""A decoding loop on a sharded model that each rank leaves when its own text ends."""
# effect: hang

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard


@torch.no_grad()
def decode(model, ids, eos, limit):
    while ids.shape[1] < limit:
        logits = model(torch.nn.functional.one_hot(ids[:, -1], 8).float())
        following = logits.argmax(-1, keepdim=True)
        ids = torch.cat([ids, following], dim=1)
        if (following == eos).all():
            break  # expect: DST102
    return ids


class Counter(torch.nn.Module):
    """The next token is this one plus one."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8, bias=False) for _ in range(2))
        with torch.no_grad():
            self.layers[0].weight.copy_(torch.eye(8))
            self.layers[1].weight.copy_(torch.eye(8).roll(1, 0))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = Counter()
for layer in model.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
start = torch.tensor([[2 * dist.get_rank()]])
decode(model, start, eos=5, limit=20)
dist.barrier()
