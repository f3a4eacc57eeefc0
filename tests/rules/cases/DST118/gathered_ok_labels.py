import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, world):
    model = DDP(net)
    for batch, labels in loader:
        labels = labels.cuda()
        features = model(batch)
        parts = [torch.zeros_like(labels) for _ in range(world)]
        dist.all_gather(parts, labels)
        loss = (features.mean(1)[:, None] - torch.cat(parts)[None]).square().mean()
        loss.backward()
