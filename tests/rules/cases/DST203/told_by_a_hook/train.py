from hooks import reshuffle
from torch.utils.data import DataLoader, DistributedSampler


class Run:
    def __init__(self, data, model, hooks):
        self.loader = DataLoader(data, 8, sampler=DistributedSampler(data))
        self.model = model
        self.hooks = hooks

    def train(self, epochs):
        for epoch in range(epochs):
            for hook in self.hooks:
                hook(self, epoch)
            for batch in self.loader:
                self.model(batch).mean().backward()


def main(data, model):
    Run(data, model, [reshuffle]).train(9)
