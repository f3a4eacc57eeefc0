import torch
from accelerate import Accelerator

accelerator = Accelerator()
accelerator.backward(loss)
if config.fsdp_enable:
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # expect: DST611
optimizer.step()
