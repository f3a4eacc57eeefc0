from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Trainer:
    def __init__(self, model, sets):
        self.model = DDP(model)
        self.sets = sets
        self.loaders = {}

    def prepare(self):
        for task, data in self.sets.items():
            sampler = DistributedSampler(data)  # expect: DST203
            self.loaders[task] = DataLoader(data, sampler=sampler, batch_size=8)

    def train_task(self, task, loader):
        for epoch in range(3):
            for step, batch in enumerate(loader):
                self.model(batch).mean().backward()

    def run(self):
        self.prepare()
        for i, (task, loader) in enumerate(self.loaders.items()):
            self.train_task(task, loader)
