import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
import deepspeed

deepspeed.init_distributed()
net = DDP(torch.nn.Linear(2, 2).cuda())
engine, _, _, _ = deepspeed.initialize(model=net, config="ds.json")  # expect: DST624
