import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import clip_grad_norm_


def train(net, opt, loader, reduce):
    model = DDP(net)
    for batch in loader:
        with model.no_sync():
            model(batch).mean().backward()
            reduce(model)
            clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
