import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Shards(IterableDataset):
    def __init__(self, files):
        self.files = files

    def __iter__(self):
        for f in self.files:
            yield from torch.load(f)


def main(files, net, opt):
    mine = files[dist.get_rank() :: dist.get_world_size()]
    loader = DataLoader(Shards(mine), 8, num_workers=4)  # expect: DST205
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
