from torch.utils.data import DataLoader, DistributedSampler


class Batches:
    def __init__(self, data, size):
        self.order = DistributedSampler(data)
        self.size = size
        self.passes = 0

    def __iter__(self):
        self.order.set_epoch(self.passes)
        self.passes += 1
        batch = []
        for index in self.order:
            batch.append(index)
            if len(batch) == self.size:
                yield batch
                batch = []


def build_loader(data, size):
    return DataLoader(data, batch_sampler=Batches(data, size))
