# One process uses all GPUs.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

local_rank = int(os.environ.get("LOCAL_RANK", -1))
net = torch.nn.DataParallel(torch.nn.Linear(2, 2).cuda())
net.load_state_dict(torch.load("net.pt"))
