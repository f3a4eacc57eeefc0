import torch
from accelerate import Accelerator, DistributedType

accelerator = Accelerator()


def step(model, loss):
    accelerator.backward(loss)
    accelerator.wait_for_everyone()
    if accelerator.distributed_type == DistributedType.NO:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST611
