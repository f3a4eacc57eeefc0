from accelerate import Accelerator
from torch.nn.utils import clip_grad_norm_


def clip(model):
    clip_grad_norm_(model.parameters(), 1.0)


def clip_managed(accelerator: Accelerator, model):
    accelerator.clip_grad_norm_(model.parameters(), 1.0)


def take_step(index, optimizer):
    if (index + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
