from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Batches:
    def __init__(self, data, size):
        self.data = data
        self.size = size

    def train_batches(self):
        order = DistributedSampler(self.data)
        return DataLoader(self.data, batch_size=self.size, sampler=order)
