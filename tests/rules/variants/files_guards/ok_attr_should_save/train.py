import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from helpers import Ctx

lr = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(lr)
dist.init_process_group("nccl")
m = DDP(torch.nn.Linear(4, 1).cuda(), device_ids=[lr])
m(torch.randn(2, 4).cuda()).mean().backward()
s = m.module.state_dict()
c = Ctx()
if c.should_save:
    torch.save(s, "a.pt")
