"""T9. Gather on all processes, write on one."""
# needs: accelerate

import os
import tempfile

import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
model = accelerator.prepare(torch.nn.Linear(4, 2))
accelerator.backward(model(torch.ones(1, 4)).sum())
path = os.path.join(tempfile.mkdtemp(), "model.pt")
state = accelerator.get_state_dict(model)
if accelerator.is_main_process:
    torch.save(state, path)
accelerator.wait_for_everyone()
accelerator.end_training()
