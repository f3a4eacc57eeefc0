import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, RandomSampler

from torch.utils.data.distributed import DistributedSampler


def main(data, net, opt, args):
    dist.init_process_group("nccl")
    if args.local_rank != -1:
        net = DDP(net)
    sampler = RandomSampler(data) if args.local_rank == -1 else DistributedSampler(data)
    loader = DataLoader(data, 8, sampler=sampler)
    for epoch in range(3):
        if args.local_rank != -1:
            sampler.set_epoch(epoch)
        for batch in loader:
            net(batch).mean().backward()
            opt.step()
