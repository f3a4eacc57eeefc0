import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import clip_grad_norm_


def train(gen, disc, opt_g, opt_d, loader, every):
    for i, batch in enumerate(loader):
        if i % every == 0:
            opt_d.zero_grad()
            disc(batch).mean().backward()
            clip_grad_norm_(disc.parameters(), 1.0)
            opt_d.step()
        else:
            opt_g.zero_grad()
            gen(batch).mean().backward()
            clip_grad_norm_(gen.parameters(), 1.0)
            opt_g.step()
