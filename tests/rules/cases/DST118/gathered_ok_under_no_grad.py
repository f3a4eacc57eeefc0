import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


@torch.no_grad()
def everywhere(tensor):
    parts = [torch.zeros_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    return torch.cat(parts, dim=0)


def main(net, loader, queue):
    model = DDP(net)
    for batch in loader:
        key = model(batch[1])
        loss = (model(batch[0]) @ everywhere(key).T).mean()
        loss.backward()
