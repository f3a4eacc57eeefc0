import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, RandomSampler


def main(data, net, opt):
    dist.init_process_group("nccl")
    model = DDP(net)
    train_sampler = RandomSampler(data)
    loader = DataLoader(data, 8, sampler=train_sampler, drop_last=True)  # expect: DST202
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
