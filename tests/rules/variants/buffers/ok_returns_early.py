import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, inputs):
        return self.norm(inputs)


def evaluate(model, batches):
    with torch.no_grad():
        for batch in batches:
            output = model(batch)
            if output.isnan().any():
                return None
        return output.mean()


dist.init_process_group("gloo")
rank = dist.get_rank()
model = DDP(Net())
batches = torch.randn(2, 4, 3)
for epoch in range(2):
    model(batches[0]).mean().backward()
    evaluate(model, batches)
    if rank == 0:
        print(evaluate(model, batches[:1]))
    dist.barrier()
dist.destroy_process_group()
