# A ranking is not a rank.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loss):
    if loss == "multiple_negatives_ranking_loss":
        print(loss)
    torch.save({}, "a.pt")
