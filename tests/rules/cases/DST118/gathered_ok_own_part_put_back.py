import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def everywhere(tensor):
    parts = [torch.zeros_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    parts[dist.get_rank()] = tensor
    return torch.cat(parts, dim=0)


def main(net, loader):
    model = DDP(net)
    for batch in loader:
        one = everywhere(model(batch[0]))
        loss = one.std(dim=0).mean()
        loss.backward()
