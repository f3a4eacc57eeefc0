import os
import torch
import torch.distributed as dist
from engine import setting
from utils import init_seeds

if __name__ == "__main__":
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    init_seeds(7)
    setting(torch.randn(100, 4), torch.randn(100))
