import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def finish(model, path):
    torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path, map_location="cpu"))


model = DDP(net)
finish(model.module, "last.pt")
