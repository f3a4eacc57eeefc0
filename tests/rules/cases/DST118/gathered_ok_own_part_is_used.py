import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, world):
    model = DDP(net)
    for batch in loader:
        features = model(batch)
        parts = [torch.zeros_like(features) for _ in range(world)]
        dist.all_gather(parts, features)
        loss = (features @ torch.cat(parts).T).logsumexp(1).mean()
        loss.backward()
