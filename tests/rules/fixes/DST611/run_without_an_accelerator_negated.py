import torch
from accelerate import Accelerator

accelerator = Accelerator() if several else None


def step(model, loss):
    if not accelerator:
        loss.backward()
    else:
        accelerator.backward(loss)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
