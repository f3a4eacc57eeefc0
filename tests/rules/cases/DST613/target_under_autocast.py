import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

net, teacher = DDP(net), load()


def step(x):
    empty = net.module.embed(x)  # expect: DST613
    guess = forward_of(x)
    with torch.autocast("cuda"):
        target = teacher(x, empty)
    loss = (guess - target).mean()
    loss.backward()
