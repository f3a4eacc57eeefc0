# A schedule holds numbers, which are on no device.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def resume(net, optimizer, warmup, folder):
    model = DDP(net.cuda())
    plan = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup)
    optimizer.load_state_dict(torch.load(folder + "/a.pt"))  # expect: DST404
    plan.load_state_dict(torch.load(folder + "/b.pt"))
    scaler = torch.amp.GradScaler("cuda")
    state = torch.load(folder + "/c.pt")
    scaler.load_state_dict(state)
