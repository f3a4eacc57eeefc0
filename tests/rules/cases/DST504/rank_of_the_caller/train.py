import torch.distributed as dist
from places import place

dist.init_process_group("nccl")
rank = dist.get_rank()
place(rank)
