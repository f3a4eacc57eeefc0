import torch.distributed as dist


def train(loader, rank):
    if rank == 0:  # expect: DST101
        dist.all_gather(loader, loader)
