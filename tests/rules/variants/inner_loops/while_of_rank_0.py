import torch.distributed as dist


def wait_for(path, tries):
    if dist.get_rank() == 0:
        while tries:
            tries -= 1
            if path.exists():
                break
        if not path.exists():
            return  # expect: DST104
    dist.barrier()
