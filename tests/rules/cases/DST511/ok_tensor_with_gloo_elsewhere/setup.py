import torch.distributed as dist


def init(backend):
    dist.init_process_group(backend)
