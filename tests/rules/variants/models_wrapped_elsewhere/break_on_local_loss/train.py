import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from steps import train


def main(data, device):
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 2).to(device), device_ids=[device.index])
    train(model, data, torch.optim.SGD(model.parameters(), 0.1), 5)  # expect: DST102
