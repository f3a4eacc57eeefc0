from accelerate import Accelerator
from torch.nn.utils import clip_grad_norm_


def clip(model):
    clip_grad_norm_(model.parameters(), 1.0)


def clip_managed(accelerator: Accelerator, model):
    if accelerator.sync_gradients:
        accelerator.clip_grad_norm_(model.parameters(), 1.0)


def clip_at_the_end(model, index):
    if (index + 1) % 4 == 0:
        clip_grad_norm_(model.parameters(), 1.0)


def take_step(optimizer):
    optimizer.step()
    optimizer.zero_grad()
