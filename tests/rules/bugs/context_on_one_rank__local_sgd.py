"""`LocalSGD` averages the parameters once more where its block ends, and only rank 0 enters it."""
# needs: accelerate
# effect: hang

import torch
from accelerate import Accelerator
from accelerate.local_sgd import LocalSGD

accelerator = Accelerator()
model = accelerator.prepare(torch.nn.Linear(4, 2))
if accelerator.is_main_process:  # expect: DST101
    with LocalSGD(accelerator=accelerator, model=model, local_sgd_steps=8):
        print("entered")
accelerator.wait_for_everyone()
