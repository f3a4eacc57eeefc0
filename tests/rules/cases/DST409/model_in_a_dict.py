"""The model is an item of a dict."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net):
    dist.init_process_group("nccl")
    parts = {"epoch": 0}
    parts["model"] = DDP(net)
    if dist.get_rank() == 0:
        torch.save(parts["model"], "model.pt")  # expect: DST409
