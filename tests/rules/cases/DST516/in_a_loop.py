import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    dist.destroy_process_group()


for size in (2, 4):
    mp.spawn(train, args=(size,), nprocs=size)  # expect: DST516
