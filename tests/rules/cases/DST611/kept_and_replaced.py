import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


class Base:
    def __init__(self, net):
        self.net = net

    def unshard(self, net):
        self.net = net


class Policy(Base):
    pass


policy = Policy(FSDP(torch.nn.Linear(2, 2)))
policy.unshard(torch.nn.Linear(2, 2))
clip_grad_norm_(policy.net.parameters(), 1.0)
