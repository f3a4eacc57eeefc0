"""T34. `.module` for state, attributes and generation without gradients."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.config = {"width": 3}
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

    def generate(self, prompt, steps):
        for _ in range(steps):
            prompt = self.layer(prompt)
        return prompt


dist.init_process_group("gloo")
ddp = DDP(Tiny())
prompt = {"prompt": torch.ones(1, 3), "steps": 2}
if dist.get_rank() == 0:
    with torch.no_grad():
        ids = ddp.module.generate(**prompt)
    print(ids.shape)
cfg = ddp.module.config
print("width =", cfg["width"])
dist.barrier()
dist.destroy_process_group()
