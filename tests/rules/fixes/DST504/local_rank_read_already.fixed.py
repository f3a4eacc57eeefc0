import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
rank = int(os.environ["RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(local_rank)
