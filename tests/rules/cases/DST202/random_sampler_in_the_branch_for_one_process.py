import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, RandomSampler


def main(data, net, opt, args):
    if args.local_rank == -1:
        loader = DataLoader(data, 8, sampler=RandomSampler(data))
    else:
        dist.init_process_group("nccl")
        net = DDP(net)
        loader = args.make(data)
    for batch in loader:
        net(batch).mean().backward()
        opt.step()
