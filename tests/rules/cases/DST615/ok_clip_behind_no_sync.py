import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import clip_grad_norm_


def step(net, opt, micros):
    model = DDP(net)
    with model.no_sync():
        for each in micros[:-1]:
            model(each).mean().backward()
    model(micros[-1]).mean().backward()
    clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
