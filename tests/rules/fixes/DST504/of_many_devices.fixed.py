import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
rank = dist.get_rank()
torch.cuda.set_device(local_rank)
device = f"cuda:{local_rank}"
net = torch.nn.Linear(3, 3).to(dtype=torch.float32, device=local_rank)
