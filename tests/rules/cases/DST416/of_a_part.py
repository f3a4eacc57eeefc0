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
model = DDP(torch.nn.Sequential(torch.nn.Linear(2, 1)))
if args.resume:
    state = torch.load(args.resume, map_location="cpu")["net"]
    model.load_state_dict(state, strict=False)  # expect: DST416
if rank == 0:
    checkpoint = {}
    checkpoint["net"] = model.module.encoder.state_dict()
    torch.save(checkpoint, "out.pt")
