import torch.distributed as dist
from torch.utils.data import DistributedSampler

from env import Env, ranks


def loader(data, world_size, local_rank):
    return DistributedSampler(data, num_replicas=world_size, rank=local_rank)  # expect: DST518


def main(data):
    job = Env()
    local_rank, world_size = ranks()
    rank = job.local_rank
    dist.init_process_group("nccl", rank=rank, world_size=job.world_size)  # expect: DST518
    return loader(data, world_size, local_rank)
