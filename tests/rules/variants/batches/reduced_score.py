"""An evaluation that reduces reads shards."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, val_loader):
    hits = torch.zeros(1)
    for x, y in val_loader:
        out = model(x)
        if (out.argmax(1) == y).sum() == 0:
            continue  # expect: DST117
        hits += (out.argmax(1) == y).sum()
        dist.all_reduce(hits)
    return hits
