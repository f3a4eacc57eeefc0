"""The launcher is compared."""

import os

import torch
import torch.distributed as dist


def main(model, cfg):
    if cfg.launch:
        dist.init_process_group("nccl")
    rank = int(os.environ.get("RANK", 0))
    if rank == 0:
        print("begins")
    if cfg.launcher == "none":
        torch.save(model.state_dict(), "model.pt")
    else:
        if rank == 0:
            torch.save(model.state_dict(), "model.pt")
