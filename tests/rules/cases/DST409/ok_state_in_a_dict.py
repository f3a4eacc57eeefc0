"""The item of the dict is the state of the model, or a tensor."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, features):
    dist.init_process_group("nccl")
    parts = {"features": features.cpu()}
    parts["model"] = DDP(net)
    parts["state"] = parts["model"].module.state_dict()
    if dist.get_rank() == 0:
        torch.save(parts["state"], "model.pt")
        torch.save(parts["features"], "features.pt")
