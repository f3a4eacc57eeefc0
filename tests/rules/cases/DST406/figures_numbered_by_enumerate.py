# The number of an item is the same on all ranks, whatever the items are called.
import matplotlib.pyplot as plt
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(model, images):
    dist.init_process_group("nccl")
    model = DDP(model)
    gpu_scores = [model(image).mean() for image in images]
    for i, score in enumerate(gpu_scores):
        plt.figure()
        plt.bar([0], [score])
        plt.savefig(f"figures/score_{i}.png")  # expect: DST406
