import os
import torch
import torch.distributed as dist


class Base:
    def __init__(self):
        self.ckpt_dir = f"out/rank{dist.get_rank()}"
        os.makedirs(self.ckpt_dir, exist_ok=True)
