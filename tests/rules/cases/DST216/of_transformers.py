import torch
from accelerate import Accelerator
from transformers import set_seed


def run(cfg, model, loader):
    accelerator = Accelerator()
    set_seed(cfg["seed"])  # expect: DST216
    model, loader = accelerator.prepare(model, loader)
    for batch in loader:
        size = len(batch["latents"])
        times = torch.rand(size, device=accelerator.device)
        out = model(batch["latents"], times)
        accelerator.backward(out.loss)
