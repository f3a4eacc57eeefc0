import random
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines:
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as opened:
            for line in opened:
                yield float(line)


class Buffer(IterableDataset):
    def __init__(self, source, size, seed):
        self.source, self.size, self.seed = source, size, seed

    def __iter__(self):
        rng, held = random.Random(self.seed), []
        for item in self.source:
            held.append(item)
            if len(held) == self.size:
                rng.shuffle(held)
                yield from held
                held = []


def main(path, net, opt):
    data = Buffer(Lines(path), 64, seed=dist.get_rank())
    loader = DataLoader(data, 8, num_workers=4)  # expect: DST205
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
