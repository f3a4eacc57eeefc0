import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
net = torch.nn.Linear(3, 3).to(dtype=torch.float32, device=rank)  # expect: DST504
