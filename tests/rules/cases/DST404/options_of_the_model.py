import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(nets, folder, weights):
    dist.init_process_group("nccl")
    options = torch.load(folder + "/options.pt")
    model = nets[options.name](options.width).cuda()
    state = torch.load(weights, map_location="cpu")
    model.load_state_dict(state, strict=True)
