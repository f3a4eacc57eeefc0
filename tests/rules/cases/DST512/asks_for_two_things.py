import torch.distributed as dist


def say(text, rank, quiet):
    if not dist.is_initialized() or (dist.is_initialized() and dist.get_rank() == 0):
        print(text)
    if not dist.is_initialized() or dist.get_rank() == 0:
        print(text)
    if dist.is_available() and dist.is_initialized() and dist.get_rank() == 0:
        print(text)
    if (rank == 0 and quiet) or (rank != 0 and not quiet):
        print(text)
    if rank == 0 and rank != 1:
        print(text)
    if quiet and not quiet:
        print(text)
    if dist.is_initialized(text) and not dist.is_initialized(rank):
        print(text)
    if text[rank] == 0 and text[rank] != 0:
        print(text)
    if not (dist.is_initialized() and dist.get_rank() != 0):
        print(text)
