"""A parameter says whether to raise; its default swallows."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, x):
        if len(x) > 16:  # stands for a sequence that is too long for the GPU
            raise torch.OutOfMemoryError("CUDA out of memory")
        return self.layer(x)


def step(model, batch, raise_oom=False):
    try:
        loss = model(batch).sum()
        loss.backward()
    except RuntimeError as error:  # expect: DST108
        if "out of memory" in str(error) and not raise_oom:
            torch.cuda.empty_cache()
            return 0.0
        raise
    return loss.item()


dist.init_process_group("gloo")
model = DDP(Net())
for size in (4, 64 if dist.get_rank() == 1 else 4, 4):
    step(model, torch.randn(size, 3))
dist.barrier()
