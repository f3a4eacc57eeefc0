import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
encoder = Encoder()
model = DDP(Wrapper(encoder), device_ids=[rank])  # expect: DST511
