import torch.distributed as dist
from reader import documents

dist.init_process_group("nccl")
mine = documents(listed, dist.get_rank(), dist.get_world_size())
