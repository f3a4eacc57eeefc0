import torch
import torch.distributed as dist


def save(state, path, is_sharded):
    if dist.get_rank() == 0:
        print(path)
    if is_sharded:
        dist.barrier()
    with open(path, "wb") as file:
        torch.save(state, file)
    dist.barrier()
