import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, world):
    model = DDP(net)
    for batch in loader:
        features = model(batch).float()
        found = torch.empty(world * len(features), 8, device="cuda")
        dist.all_gather_into_tensor(found, features)  # expect: DST118
        loss = found.std(dim=0).mean()
        loss.backward()
