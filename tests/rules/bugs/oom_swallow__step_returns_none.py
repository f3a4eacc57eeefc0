"""The train step of one rank answers None when it ran out of memory."""
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


class Trainer:
    def __init__(self):
        self.model = DDP(Net())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.ooms = 0

    def train_step(self, sample):
        try:
            loss = self.model(sample).mean()
            loss.backward()
        except torch.cuda.OutOfMemoryError:  # expect: DST108
            print("ran out of memory, skipping batch")
            self.ooms += 1
            return None
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


dist.init_process_group("gloo")
trainer = Trainer()
for size in (4, 64 if dist.get_rank() == 1 else 4, 4):
    trainer.train_step(torch.randn(size, 3))
dist.barrier()
