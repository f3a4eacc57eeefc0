import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net):
        self.model = DDP(net)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def grow(self, width):
        head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))
        self.model.module.add_module("head", head)  # expect: DST614

    def train(self, loader):
        for batch in loader:
            self.optimizer.zero_grad()
            self.model(batch).mean().backward()
            self.optimizer.step()


def main(net, loader):
    dist.init_process_group("nccl")
    trainer = Trainer(net)
    trainer.grow(64)
    trainer.train(loader)
