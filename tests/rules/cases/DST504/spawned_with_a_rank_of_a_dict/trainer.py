import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, config):
        dist.init_process_group("nccl", rank=config["rank"], world_size=config["world_size"])
        local_rank = dist.get_rank()
        torch.cuda.set_device(local_rank)
