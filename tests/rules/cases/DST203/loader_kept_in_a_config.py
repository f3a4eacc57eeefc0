from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Run:
    def __init__(self, model, data):
        self.model = DDP(model)
        self.loader = self.make_loader(data)

    def make_loader(self, data):
        return DataLoader(data, sampler=DistributedSampler(data))  # expect: DST203

    def fit(self, epochs):
        for epoch in range(epochs):
            for batch in self.loader:
                self.model(batch).mean().backward()
