"""Random numbers of a dtype that is named; the others wait with the same."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    states = torch.randn((2, 3), dtype=torch.bfloat16)
else:
    states = torch.empty((2, 3), dtype=torch.bfloat16)
dist.broadcast(states, src=0)
dist.barrier()
dist.destroy_process_group()
