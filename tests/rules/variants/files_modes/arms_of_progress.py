"""The twin: the step decides."""

import os

import torch
import torch.distributed as dist


def main(model, cfg):
    if cfg.sharded:
        dist.init_process_group("nccl")
    rank = int(os.environ.get("RANK", 0))
    if rank == 0:
        print("begins")
    if cfg.step % 10 == 0:
        if rank == 0:
            torch.save(model.state_dict(), "model.pt")
    else:
        torch.save(model.state_dict(), "model.pt")  # expect: DST406
