import torch
from accelerate import Accelerator


def go_back(accelerator: Accelerator, loss):
    accelerator.backward(loss)


def clip(model):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST611
