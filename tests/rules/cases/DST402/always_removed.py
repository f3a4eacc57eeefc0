import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def load(net, path, keep=False):
    state = torch.load(path, map_location="cpu")
    if True:
        state = {k.removeprefix("module."): v for k, v in state.items()}
    net.load_state_dict(state)  # expect: DST402


def main(net):
    dist.init_process_group("gloo")
    net = DDP(net)
    load(net, "a.pt", keep=True)
