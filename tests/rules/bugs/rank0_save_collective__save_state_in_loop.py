"""save_state on the main process: right under DDP, a hang under FSDP and DeepSpeed."""
# static: plain DDP, the only strategy on CPU, is not affected
# needs: accelerate

import torch
from accelerate import Accelerator

accelerator = Accelerator()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
save_every = 10
for step in range(100):
    accelerator.backward(model(torch.randn(4, 2, device=accelerator.device)).mean())
    optimizer.step()
    optimizer.zero_grad()
    if accelerator.is_main_process and step % save_every == 0:  # expect: DST407
        accelerator.save_state(f"run/checkpoint-{step}")
