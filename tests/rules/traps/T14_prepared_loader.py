"""T14. A shuffling DataLoader that is prepared: the sampler is injected."""
# needs: accelerate

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
ds = TensorDataset(torch.randn(20, 2))
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(ds, batch_size=8, shuffle=True)
model, opt, loader = accelerator.prepare(model, opt, loader)
for epoch in range(2):
    for (batch,) in loader:
        opt.zero_grad()
        accelerator.backward(model(batch).mean())
        opt.step()
accelerator.end_training()
