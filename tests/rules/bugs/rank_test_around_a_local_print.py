"""A print under a local value stands in the arm: the rank test alone parts the ranks."""
# effect: hang

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)
if dist.get_rank() == 0:  # expect: DST101
    if loss.item() > 0.5:
        print("high", flush=True)
    else:
        print("low")
    dist.barrier()
