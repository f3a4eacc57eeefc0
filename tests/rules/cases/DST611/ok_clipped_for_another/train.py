from accelerate import Accelerator
from helpers import clip, clip_unscaled


def managed(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        accelerator.backward(model(batch).mean())
        accelerator.unscale_gradients()
        clip_unscaled(accelerator, model)
        optimizer.step()
        optimizer.zero_grad()


def plain(probe, optimizer, loader):
    for batch in loader:
        probe(batch).mean().backward()
        clip(probe)
        optimizer.step()
        optimizer.zero_grad()
