import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


class Base:
    def __init__(self, net):
        self.model = net

    def wrap(self):
        self.model = FSDP(self.model)


class Trainer(Base):
    def __init__(self, net):
        super().__init__(net)
        self.wrap()

    def step(self, x):
        self.model(x).sum().backward()
        clip_grad_norm_(self.model.parameters(), 1.0)  # expect: DST611


Trainer(torch.nn.Linear(2, 2)).step(torch.ones(1, 2))
