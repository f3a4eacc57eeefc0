"""Numbers of the batches become a tensor."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def evaluate(model, loader, device):
    values = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        values.append(loss.item())
    mean = torch.tensor(values, device=device).mean()
    if mean > 100:
        return 100.0  # expect: DST117
    dist.all_reduce(mean)
    return mean.item()
