"""T18. The loss is multiplied by the world size on purpose: a mean over all tokens."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DDP(torch.nn.Linear(4, 1))
inputs = torch.randn(8, 4)
mask = (torch.rand(8) > 0.5).float()
per_token = model(inputs).squeeze(-1).pow(2)
tokens = mask.sum()
dist.all_reduce(tokens)
loss = (per_token * mask).sum() / tokens * dist.get_world_size()
loss.backward()
dist.destroy_process_group()
