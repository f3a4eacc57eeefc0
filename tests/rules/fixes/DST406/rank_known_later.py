import os
import urllib.request

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP


class Own:
    def __init__(self, net):
        torch.save(net, "net.pt")
        self.accelerator = Accelerator()
        self.net = self.accelerator.prepare(net)
