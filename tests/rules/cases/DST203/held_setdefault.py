from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Run:
    loaders = {}

    def add(self, name, data):
        sampler = DistributedSampler(data)  # expect: DST203
        self.loaders.setdefault(name, DataLoader(data, sampler=sampler))

    def train(self, model, name, epochs):
        model = DDP(model)
        for epoch in range(epochs):
            for batch in self.loaders[name]:
                model(batch).mean().backward()
