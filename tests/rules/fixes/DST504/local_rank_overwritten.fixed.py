import os

import torch
import torch.distributed as dist

gpu = int(os.getenv("LOCAL_RANK", 0))
gpu = 0
rank = int(os.environ["RANK"])
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
