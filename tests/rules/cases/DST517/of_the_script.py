import os

import torch.distributed as dist

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
if local_rank == 0:
    cache = {}
    print("first")


def later():
    print(cache)


cache["seen"] = 1  # expect: DST517
dist.barrier()
