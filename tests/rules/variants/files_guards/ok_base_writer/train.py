import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from helpers import Base
import csv


class T(Base):
    def a(self, s):
        if self.out is not None:
            csv.writer(self.out).writerow([1])
            self.out.write("x")
        if self.out:
            torch.save(s, "a.pt")


lr = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(lr)
dist.init_process_group("nccl")
m = DDP(torch.nn.Linear(4, 1).cuda(), device_ids=[lr])
m(torch.randn(2, 4).cuda()).mean().backward()
s = m.module.state_dict()
T().a(s)
