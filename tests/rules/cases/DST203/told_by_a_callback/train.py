from callbacks import Reshuffle
from torch.utils.data import DataLoader, DistributedSampler


class Run:
    def __init__(self, data, model, callbacks):
        self.loader = DataLoader(data, 8, sampler=DistributedSampler(data))
        self.model = model
        self.callbacks = callbacks

    def fire(self, event, epoch):
        for callback in self.callbacks:
            getattr(callback, event)(self, epoch)

    def train(self, epochs):
        for epoch in range(epochs):
            self.fire("epoch_begin", epoch)
            for batch in self.loader:
                self.model(batch).mean().backward()


def main(data, model):
    Run(data, model, [Reshuffle()]).train(9)
