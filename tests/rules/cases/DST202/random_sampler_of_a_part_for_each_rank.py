import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, RandomSampler


def main(data, net, opt, rank, world):
    dist.init_process_group("nccl")
    model = DDP(net)
    loader = DataLoader(data, 8, sampler=RandomSampler(data, num_samples=len(data) // world))
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
