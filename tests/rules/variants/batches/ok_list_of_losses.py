"""So are the heads of a model, each of which has a loss."""

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, heads, opt):
    model = DDP(model)
    for x in loader:
        outs = model(x)
        for head in heads:
            loss = head(outs)
            loss.backward(retain_graph=True)
            if head.synced:
                dist.all_reduce(head.weight.grad)
        opt.step()
