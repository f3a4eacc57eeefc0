from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Base:
    def run(self, epochs):
        for self.epoch in range(epochs):
            self.order.set_epoch(self.epoch)
            self.train_epoch()

    def train_epoch(self):
        raise NotImplementedError


class Trainer(Base):
    def __init__(self, model, data):
        self.model = DDP(model)
        self.order = DistributedSampler(data)
        self.loader = DataLoader(data, batch_size=8, sampler=self.order)

    def train_epoch(self):
        for batch in self.loader:
            self.model(batch).mean().backward()


def main(model, data):
    Trainer(model, data).run(3)
