import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, RandomSampler


def main(data, net, opt, args):
    dist.init_process_group("nccl")
    mine = torch.utils.data.Subset(data, range(dist.get_rank(), len(data), dist.get_world_size()))
    net = DDP(net)
    loader = DataLoader(mine, 8, sampler=RandomSampler(mine))
    for batch in loader:
        net(batch).mean().backward()
        opt.step()
