import torch.distributed as dist


class Env:
    def __init__(self):
        dist.init_process_group("nccl")
        self.rank = dist.get_rank()
        self.world = dist.get_world_size()
