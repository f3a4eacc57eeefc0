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
model = DDP(torch.nn.Linear(2, 1))
if args.resume:
    state = torch.load(args.resume, map_location="cpu")["net"]
    model.load_state_dict({f"module.{key}": value for key, value in state.items()})
if rank == 0:
    torch.save({"net": model.module.state_dict()}, "out.pt")
