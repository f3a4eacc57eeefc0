# A run that wraps the model has returned before the last line.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def save(net, several):
    if several:
        net = DDP(net)
    if several:
        torch.save(net.module.state_dict(), "a.pt")
        return
    torch.save(net.state_dict(), "a.pt")
