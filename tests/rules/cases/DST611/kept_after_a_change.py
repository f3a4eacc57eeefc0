import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


class Base:
    def __init__(self, net):
        net = net.module
        self.net = net


base = Base(FSDP(torch.nn.Linear(2, 2)))
clip_grad_norm_(base.net.parameters(), 1.0)
