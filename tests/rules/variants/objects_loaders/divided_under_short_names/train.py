import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
files = sorted(os.listdir("data"))
r, n = dist.get_rank(), dist.get_world_size()
files = files[r::n]
model = DDP(torch.nn.Linear(1, 1).cuda())
for batch in DataLoader(files, batch_size=4):  # expect: DST113
    model(batch).mean().backward()
