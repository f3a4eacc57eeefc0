"""The condition reads a progress bar that counts on the main process only."""
# effect: hang
# needs: accelerate, tqdm

import torch
from accelerate import Accelerator
from tqdm.auto import tqdm

accelerator = Accelerator(cpu=True)
model = accelerator.prepare(torch.nn.Linear(2, 1))
bar = tqdm(range(4), disable=not accelerator.is_main_process)
for step in range(4):
    accelerator.backward(model(torch.randn(2, 2)).mean())
    bar.update(1)
    if bar.n > 0 and bar.n % 2 == 0:  # expect: DST110
        guess = (model(torch.ones(2, 2)) > 0).float()
        everything = accelerator.gather_for_metrics(guess)
        accelerator.print(f"step {step}: {everything.mean().item():.2f}")
accelerator.wait_for_everyone()
