import torch
from accelerate import Accelerator
from helpers import clip, go_back


def by_a_function(model, optimizer, loader):
    parts = {}
    parts["accelerator"] = Accelerator()
    model, optimizer, loader = parts["accelerator"].prepare(model, optimizer, loader)
    for batch in loader:
        go_back(parts["accelerator"], model(batch).mean())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST611
        optimizer.step()
        optimizer.zero_grad()


def with_a_clip_elsewhere(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        accelerator.backward(model(batch).mean())
        clip(model)
        optimizer.step()
        optimizer.zero_grad()
