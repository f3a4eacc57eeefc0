import torch
from accelerate import Accelerator


def clip(model):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def clip_unscaled(accelerator: Accelerator, model):
    if "fsdp" not in str(accelerator.distributed_type).lower():
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
