import os
import torch
import torch.distributed as dist
from env import is_main_process
from torch.nn.parallel import DistributedDataParallel as DDP

lr = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(lr)
dist.init_process_group("nccl")
m = DDP(torch.nn.Linear(4, 1).cuda(), device_ids=[lr])
m(torch.randn(2, 4).cuda()).mean().backward()
if is_main_process:
    torch.save(m.module.state_dict(), "a.pt")
