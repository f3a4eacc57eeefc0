import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, teacher, loader, world):
    model = DDP(net)
    for batch in loader:
        with torch.no_grad():
            target = teacher(batch)
        parts = [torch.zeros_like(target) for _ in range(world)]
        dist.all_gather(parts, target)
        loss = (model(batch) - torch.cat(parts).mean(0)).square().mean()
        loss.backward()
