import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


class Base:
    def __init__(self, net):
        self.net = FSDP(net)


class Plain(Base):
    def __init__(self, net):
        self.other = net


plain = Plain(torch.nn.Linear(2, 2))
clip_grad_norm_(plain.other.parameters(), 1.0)
