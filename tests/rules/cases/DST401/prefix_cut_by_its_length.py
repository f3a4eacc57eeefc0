import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, path):
    model = DDP(net)
    torch.save(model.state_dict(), path)


def evaluate(net, path):
    state = torch.load(path, map_location="cpu")
    net.load_state_dict({name[7:]: value for name, value in state.items()})
