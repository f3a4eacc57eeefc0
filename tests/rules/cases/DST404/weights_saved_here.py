import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def save(folder, net, scaler, epoch):
    rest = {"scaler": scaler.state_dict(), "epoch": epoch, "net": net.state_dict()}
    torch.save(rest, folder + "/rest.pt")


def resume(net, scaler, folder):
    model = DDP(net.cuda())
    rest = torch.load(folder + "/rest.pt")  # expect: DST404
    scaler.load_state_dict(rest["scaler"])
    return rest.get("epoch")
