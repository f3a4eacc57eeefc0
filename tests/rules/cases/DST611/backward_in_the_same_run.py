import torch
from accelerate import Accelerator

accelerator = Accelerator()
if use_accelerate:
    accelerator.backward(loss)
if True:
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # expect: DST611
optimizer.step()
