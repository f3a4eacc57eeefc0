import torch.distributed as dist
from transformers import Trainer


class Mine(Trainer):
    def world(self):
        return dist.get_world_size()
