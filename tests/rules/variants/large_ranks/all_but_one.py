"""All but one."""

import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank != 100:  # expect: DST101
    dist.barrier()
