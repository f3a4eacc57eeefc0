import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, folder):
    model = DDP(net.cuda())
    name = os.path.join(folder, f"state_{dist.get_rank()}.pt")
    model.load_state_dict(torch.load(name))
    model.load_state_dict(torch.load(os.path.join(folder, "all.pt")))  # expect: DST404
