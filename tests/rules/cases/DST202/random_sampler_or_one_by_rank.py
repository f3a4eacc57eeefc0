import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, RandomSampler


class ByRank(torch.utils.data.Sampler):
    def __iter__(self):
        return iter(range(dist.get_rank(), len(self.data), dist.get_world_size()))


def main(data, net, opt, args, sampler=None):
    dist.init_process_group("nccl")
    net = DDP(net)
    kind = ByRank if args.distributed else RandomSampler
    loader = DataLoader(data, 8, sampler=kind(data))
    for batch in loader:
        net(batch).mean().backward()
        opt.step()
