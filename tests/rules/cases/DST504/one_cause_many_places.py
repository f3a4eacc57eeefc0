import os

import torch
import torch.distributed as dist

from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ["RANK"])  # expect: DST504
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
device = torch.device("cuda", local_rank)
net = torch.nn.Linear(3, 3).to(local_rank)
model = DDP(net, device_ids=[local_rank], output_device=local_rank)
for _ in range(3):
    model(torch.ones(1, 3).to(local_rank))
    model(torch.ones(1, 3).cuda(local_rank))
