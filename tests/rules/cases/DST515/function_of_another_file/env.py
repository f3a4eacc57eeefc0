import torch.distributed as dist


def setup(backend):
    _join(backend)
    return dist.get_rank(), dist.get_world_size()


def _join(backend):
    dist.init_process_group(backend)
