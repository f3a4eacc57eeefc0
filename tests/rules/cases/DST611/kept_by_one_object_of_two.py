import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


class Holder:
    def __init__(self, net):
        self.net = net


plain = Holder(torch.nn.Linear(2, 2))
sharded = Holder(FSDP(torch.nn.Linear(2, 2)))
plain.net(x).sum().backward()
sharded.net(x).sum().backward()
clip_grad_norm_(plain.net.parameters(), 1.0)
clip_grad_norm_(sharded.net.parameters(), 1.0)  # expect: DST611
