# Sharded models take another branch.
import torch
from accelerate import Accelerator, DistributedType

accelerator = Accelerator()


def step(model, loss):
    accelerator.backward(loss)
    accelerator.unscale_gradients()
    if accelerator.distributed_type == DistributedType.NO:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
