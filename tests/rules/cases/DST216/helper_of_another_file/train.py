import torch
from accelerate import Accelerator

from seeding import fix_seed


def main(args, model, loader):
    accelerator = Accelerator()
    fix_seed(args.seed)  # expect: DST216
    model, loader = accelerator.prepare(model, loader)
    for x in loader:
        noise = torch.randn_like(x)
        accelerator.backward((model(x + noise) - noise).square().mean())
