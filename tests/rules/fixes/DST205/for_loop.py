import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        for line in open(self.paths[0]):
            yield line.strip()


model = DDP(net)
loader = DataLoader(Lines(["a", "b"]), batch_size=4, num_workers=2)
for batch in loader:
    model(batch).mean().backward()
