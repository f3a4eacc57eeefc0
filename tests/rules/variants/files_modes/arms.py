"""A test of the rank in the arm for many processes."""

import os

import torch
import torch.distributed as dist


def main(model, cfg):
    if cfg.distributed:
        dist.init_process_group("nccl")
    rank = int(os.environ.get("RANK", 0))
    if rank == 0:
        print("begins")
    if cfg.distributed:
        if rank == 0:
            torch.save(model.state_dict(), "model.pt")
    else:
        torch.save(model.state_dict(), "model.pt")
