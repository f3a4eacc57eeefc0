import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import clip_grad_norm_


def train(net, opt, loader, gas):
    model = DDP(net)
    for i, batch in enumerate(loader):
        if (i + 1) % gas != 0:
            with model.no_sync():
                (model(batch).mean() / gas).backward()
        else:
            (model(batch).mean() / gas).backward()
            clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
