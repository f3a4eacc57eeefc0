"""A generator that the rank seeds draws other numbers on each rank, also after a common seed."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(0)
draws = torch.Generator().manual_seed(100 + dist.get_rank())
noise = torch.randn(8, generator=draws)
if noise.mean() > 0:  # expect: DST103
    dist.barrier()
