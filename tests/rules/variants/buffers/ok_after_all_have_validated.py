import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, inputs):
        return self.norm(inputs)


dist.init_process_group("gloo")
rank = dist.get_rank()
model = DDP(Net())
batches = torch.randn(2, 4, 3)
for epoch in range(2):
    model(batches[0]).mean().backward()
    model.eval()
    with torch.no_grad():
        model(batches[1])
    if rank == 0:
        with torch.no_grad():
            print(model(batches[1]).mean())
    model.train()
    dist.barrier()
dist.destroy_process_group()
