# The script saves nothing but numbers in this file.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def save(folder, scaler, epoch, args):
    rest = {"scaler": scaler.state_dict(), "epoch": epoch, "run_args": args}
    torch.save(rest, folder + "/rest.pt")


def resume(net, scaler, folder):
    model = DDP(net.cuda())
    rest = torch.load(folder + "/rest.pt")
    scaler.load_state_dict(rest["scaler"])
    return rest.get("epoch")
