"""`split_between_processes` gathers sizes before it pads tensors, and only rank 0 enters it."""
# needs: accelerate
# effect: hang

import torch
from accelerate import Accelerator

accelerator = Accelerator()
if accelerator.is_main_process:  # expect: DST101
    with accelerator.split_between_processes(torch.arange(5.0), apply_padding=True) as mine:
        print(mine.tolist())
accelerator.wait_for_everyone()
