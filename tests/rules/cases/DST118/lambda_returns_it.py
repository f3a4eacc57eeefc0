import torch
import torch.distributed as dist

f = lambda x: dist.all_reduce(x)
