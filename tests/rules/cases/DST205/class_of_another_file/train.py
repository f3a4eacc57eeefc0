import torch.distributed as dist
from stream import Shards
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(files, net, opt):
    mine = Shards(files, dist.get_rank(), dist.get_world_size())
    loader = DataLoader(mine, 8, num_workers=4)  # expect: DST205
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
