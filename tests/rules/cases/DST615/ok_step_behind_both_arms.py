import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import clip_grad_norm_


def train(model, opt, loader, every):
    for i, batch in enumerate(loader):
        opt.zero_grad()
        if i % every == 0:
            model(batch, noisy=True).mean().backward()
            clip_grad_norm_(model.parameters(), 0.5)
        else:
            model(batch).mean().backward()
            clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
