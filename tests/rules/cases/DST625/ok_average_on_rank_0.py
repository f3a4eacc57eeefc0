import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class EMA:
    def __init__(self, model):
        self.module = model
        self.optimizer_steps = 0

    def step(self, model):
        for mean, value in zip(self.module.parameters(), model.parameters()):
            mean.data.mul_(0.99).add_(value.data, alpha=0.01)

    def load_state_dict(self, state):
        self.module.load_state_dict(state)


def main(loader, rank, path):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    ema = EMA(torch.nn.Linear(2, 1))
    if rank == 0:
        ema.load_state_dict(torch.load(path))
        for param in ema.module.parameters():
            param.data.mul_(1.0)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        if rank == 0:
            ema.step(model.module)
