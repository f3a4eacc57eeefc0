import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def setup(model, device):
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    return DDP(model.to(device), device_ids=[device.index])
