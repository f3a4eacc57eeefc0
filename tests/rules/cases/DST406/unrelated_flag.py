import torch
import torch.distributed as dist


def save(state, path, is_safe):
    if dist.get_rank() == 0:
        print(path)
    if is_safe:
        dist.barrier()
    with open(path, "wb") as file:
        torch.save(state, file)  # expect: DST406
    dist.barrier()
