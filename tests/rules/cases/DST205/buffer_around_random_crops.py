import random
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Crops:
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        whole = torch.load(self.path)
        rng = random.Random()
        while True:
            yield whole[rng.randrange(len(whole))]


class Buffer(IterableDataset):
    def __init__(self, source, size):
        self.source, self.size = source, size

    def __iter__(self):
        held = []
        for item in self.source:
            held.append(item)
            if len(held) == self.size:
                random.shuffle(held)
                yield from held
                held = []


def main(path, net, opt):
    loader = DataLoader(Buffer(Crops(path), 64), 8, num_workers=4)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
