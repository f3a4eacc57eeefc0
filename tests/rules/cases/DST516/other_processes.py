import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    dist.destroy_process_group()


import psutil

mp.set_start_method("spawn")
print(psutil.Process().memory_info())
