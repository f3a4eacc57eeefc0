import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

torch.distributed.init_process_group("nccl")
model = DDP(net)
from torch.utils.data import random_split

torch.manual_seed(0)
a, b = random_split(d, [1, 2])
