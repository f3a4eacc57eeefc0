"""T27. "Main process or DeepSpeed": right for DDP and for DeepSpeed."""
# needs: accelerate

import os
import tempfile

import torch
from accelerate import Accelerator, DistributedType

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model, opt = accelerator.prepare(model, opt)
folder = tempfile.mkdtemp()
for step in range(4):
    accelerator.backward(model(torch.ones(1, 2)).sum())
    opt.step()
    opt.zero_grad()
    if step % 2 == 1:
        if accelerator.is_main_process or accelerator.distributed_type == DistributedType.DEEPSPEED:
            accelerator.save_state(os.path.join(folder, f"step-{step}"))
accelerator.wait_for_everyone()
accelerator.end_training()
