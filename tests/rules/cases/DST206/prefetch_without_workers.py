import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

torch.distributed.init_process_group("nccl")
model = DDP(net)
DataLoader(d, prefetch_factor=4, num_workers=0)  # expect: DST206
