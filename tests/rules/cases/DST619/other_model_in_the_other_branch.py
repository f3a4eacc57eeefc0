import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(net)
width = net.head.width if alone else other.module.head.width  # expect: DST619
