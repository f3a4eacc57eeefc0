import torch
from accelerate import Accelerator

accelerator = Accelerator()


def step(model, loss):
    accelerator.backward(loss)
    accelerator.unscale_gradients()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
