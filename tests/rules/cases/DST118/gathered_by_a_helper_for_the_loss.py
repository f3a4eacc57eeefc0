import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def everywhere(tensor):
    parts = [torch.zeros_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)  # expect: DST118
    return torch.cat(parts, dim=0)


def step(model, optimizer, batch):
    one = model(batch[0])
    other = F.normalize(model(batch[1]), dim=1)
    all_other = everywhere(other)
    loss = F.cross_entropy(one @ all_other.T, torch.arange(len(one)))
    loss.backward()
    optimizer.step()


def main(net, optimizer, loader):
    model = DDP(net)
    for batch in loader:
        step(model, optimizer, batch)
