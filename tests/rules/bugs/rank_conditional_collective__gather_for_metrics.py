"""Predictions are gathered inside the main-process block of the evaluation loop."""
# effect: hang
# needs: accelerate

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)


def evaluate(model, loader):
    hits = total = 0
    for x, y in loader:
        guess = (model(x) > 0).long().squeeze(-1)
        if accelerator.is_main_process:  # expect: DST101
            guess, y = accelerator.gather_for_metrics((guess, y))
            hits += (guess == y).sum().item()
            total += len(y)
    return hits / max(total, 1)


data = TensorDataset(torch.randn(8, 2), torch.ones(8, dtype=torch.long))
model, loader = accelerator.prepare(torch.nn.Linear(2, 1), DataLoader(data, batch_size=2))
print(f"accuracy {evaluate(model, loader):.2f}")
accelerator.wait_for_everyone()
