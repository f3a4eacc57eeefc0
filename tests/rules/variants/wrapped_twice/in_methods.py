import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, net, loader):
        self.accelerator = Accelerator()
        self.model = DistributedDataParallel(net.to(self.accelerator.device))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.optimizer, self.loader = self.accelerator.prepare(  # expect: DST624
            self.model, self.optimizer, loader
        )

    def train(self):
        for batch in self.loader:
            self.accelerator.backward(self.model(batch).mean())
            self.optimizer.step()
