"""Out of memory is recognised by its message; the handler frees memory and goes on."""
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


def run_epoch(model, sizes, optimizer):
    for size in sizes:
        try:
            loss = model(torch.randn(size, 3)).mean()
            loss.backward()
            optimizer.step()
        except RuntimeError as error:  # expect: DST108
            if "out of memory" not in str(error):
                raise
            torch.cuda.empty_cache()
            optimizer.zero_grad()


dist.init_process_group("gloo")
model = DDP(Net())
sizes = [4, 64 if dist.get_rank() == 1 else 4, 4]
run_epoch(model, sizes, torch.optim.SGD(model.parameters(), lr=0.1))
dist.barrier()
