"""What lies in a directory that is named by the time: nothing, on any rank."""

import datetime
import glob
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def joined():
    folder = Path("out") / datetime.datetime.now().strftime("%Y")
    if folder.exists():
        dist.barrier()


def globbed():
    folder = Path("out") / datetime.datetime.now().strftime("%Y") / "checkpoints"
    if list(folder.glob("*")):
        dist.barrier()


def as_text():
    folder = os.path.join("out", datetime.datetime.now().strftime("%Y"))
    if os.path.exists(folder):
        dist.barrier()
    if os.listdir(folder):
        dist.barrier()
    if glob.glob(folder + "/*.pt"):
        dist.barrier()


def resumed(folder=None, steps=100):
    model = DDP(torch.nn.Linear(3, 1))
    if folder is None:
        folder = Path("outputs") / datetime.datetime.now().strftime("%Y%m%d_%H%M%S")
    else:
        folder = Path(folder)
    if dist.get_rank() == 0:
        folder.mkdir(parents=True, exist_ok=True)
    found = sorted(folder.glob("ckpt_*.pt"))
    step = 0
    if found:
        step = int(torch.load(found[-1], map_location="cpu").get("step", 0))
    while step < steps:
        model(torch.ones(3)).sum().backward()
        step += 1


dist.init_process_group("gloo")
joined()
globbed()
as_text()
resumed()
