import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
parser.add_argument("--weights")
args = parser.parse_args()
dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.Linear(2, 1)
if dist.get_world_size() > 1:
    model = DDP(model)
if args.resume:
    state = torch.load(args.resume, map_location="cpu")["net"]
    if dist.get_world_size() > 1:
        model.module.load_state_dict(state)
    else:
        model.load_state_dict(state)
if rank == 0:
    torch.save(
        {"net": model.module.state_dict() if dist.get_world_size() > 1 else model.state_dict()},
        "o.pt",
    )
