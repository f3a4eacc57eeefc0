"""The handler continues for "out of memory" and raises for everything else."""
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


def train_step(model, optimizer, samples):
    optimizer.zero_grad()
    for sample in samples:
        try:
            loss = model(sample).mean()
            loss.backward()
        except RuntimeError as error:  # expect: DST108
            if "out of memory" in str(error):
                optimizer.zero_grad()
                continue
            raise
    optimizer.step()


dist.init_process_group("gloo")
model = DDP(Net())
samples = [torch.randn(n, 3) for n in (4, 64 if dist.get_rank() == 1 else 4, 4)]
train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), samples)
dist.barrier()
