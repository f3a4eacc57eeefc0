import random
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines:
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        info = get_worker_info()
        part = dist.get_rank() * info.num_workers + info.id
        with open(self.path) as opened:
            for n, line in enumerate(opened):
                if n % (dist.get_world_size() * info.num_workers) == part:
                    yield float(line)


class Buffer(IterableDataset):
    def __init__(self, source, size):
        self.source, self.size = source, size

    def __iter__(self):
        for item in self.source:
            yield item


def main(path, net, opt):
    loader = DataLoader(Buffer(Lines(path), 64), 8, num_workers=4)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
