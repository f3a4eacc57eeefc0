import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
cpu = dist.new_group(backend="gloo")
local_rank = int(os.environ["LOCAL_RANK"])
dist.barrier(group=cpu)
dist.barrier(device_ids=[local_rank])
dist.broadcast_object_list([None], 0, cpu)
torch.cuda.set_device(local_rank)
