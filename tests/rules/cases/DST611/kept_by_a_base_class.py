import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


class Base:
    def __init__(self, net):
        self.net = net


class Policy(Base):
    pass


class Other(Base):
    def __init__(self, net):
        super().__init__(net)


policy = Policy(FSDP(torch.nn.Linear(2, 2)))
policy.net(x).sum().backward()
clip_grad_norm_(policy.net.parameters(), 1.0)  # expect: DST611
