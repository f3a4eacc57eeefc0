import torch.distributed as dist
from sizes import gpus
from torch.utils.data import DataLoader, DistributedSampler


def loader(data, args):
    batch_size = args.batch_size // gpus()  # expect: DST513
    return DataLoader(data, batch_size, sampler=DistributedSampler(data))


dist.init_process_group("nccl")
print(dist.get_world_size())
