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
    model.load_state_dict(torch.load(args.resume, map_location="cpu")["net"])
if rank == 0:
    inner = model.module if hasattr(model, "module") else model
    torch.save({"net": inner.state_dict()}, "out.pt")
    torch.save({"net": model.state_dict()}, "last.pt")
