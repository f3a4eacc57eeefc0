# The bare module only serves a target without a gradient.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

net, teacher = DDP(net), load()


def step(x):
    empty = net.module.embed(x)
    guess = forward_of(net, x)
    with torch.no_grad():
        target = teacher(x, empty)
    loss = (guess - target).mean()
    loss.backward()
