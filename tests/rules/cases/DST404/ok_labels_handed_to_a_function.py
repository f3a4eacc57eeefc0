"""What is loaded goes into a function that puts something else into the model."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def resume(model, path, labels):
    model.load_state_dict(torch.load(path, map_location="cpu"))
    print(len(labels), "labels")


def main(path):
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 1).cuda())
    labels = torch.load("labels.pt")
    resume(model, path, labels)
