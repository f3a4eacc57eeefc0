"""A factory returns a dict with all that is trained."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def build(config):
    nets = {name: torch.nn.Linear(4, width) for name, width in config.items()}
    return {"nets": {name: FSDP(net) for name, net in nets.items()}, "step": 0}


def save(state, path):
    saved = {"step": state["step"]}
    for name, net in state["nets"].items():
        saved[name] = net.state_dict()
    torch.save(saved, path)


def main(config):
    dist.init_process_group("nccl")
    state = build(config)
    if dist.get_rank() == 0:  # expect: DST407
        save(state, "all.pt")
    dist.barrier()
