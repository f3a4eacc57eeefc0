import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def evaluate(net, loader, world):
    model = DDP(net)
    scores = []
    for batch in loader:
        features = model(batch)
        parts = [torch.zeros_like(features) for _ in range(world)]
        dist.all_gather(parts, features)
        scores.append(torch.cat(parts).mean())
    return scores
