import torch
from accelerate import Accelerator

accelerator = Accelerator()
accelerator.backward(loss)
if config.fsdp_enable:
    accelerator.unscale_gradients()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
optimizer.step()
