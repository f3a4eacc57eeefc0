import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


class Base:
    def __init__(self, net):
        self.net = net


class Middle(Base):
    pass


class Policy(Middle):
    def step(self, x):
        self.net(x).sum().backward()
        clip_grad_norm_(self.net.parameters(), 1.0)  # expect: DST611


Policy(net=FSDP(torch.nn.Linear(2, 2))).step(x)
