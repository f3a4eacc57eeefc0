"""How many rows a search finds decides."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
scores = torch.randn(64)
hits = torch.nonzero(scores > 2)
if len(hits) > 3:  # expect: DST103
    dist.barrier()
