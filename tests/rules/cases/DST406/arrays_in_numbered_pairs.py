# The number of a pair, around which both lists are made on a device.
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(model, gpu_inputs, gpu_targets):
    dist.init_process_group("nccl")
    model = DDP(model)
    for i, (inputs, targets) in enumerate(zip(gpu_inputs, gpu_targets)):
        np.save(f"out/{i:04d}.npy", (model(inputs) - targets).cpu())  # expect: DST406
