"""A dict has a list for each name."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

from collections import defaultdict


def evaluate(model, loader):
    scores = defaultdict(list)
    for x, y in loader:
        if y.sum() > 0:
            scores["dice"].append(F.mse_loss(model(x), y))
    if not scores["dice"]:
        return None  # expect: DST117
    dice = torch.stack(scores["dice"]).mean()
    dist.all_reduce(dice)
    return dice.item()
