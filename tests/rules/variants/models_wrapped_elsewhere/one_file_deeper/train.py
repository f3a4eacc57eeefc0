import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from loop import run_epoch


def main(data, device):
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 2).to(device), device_ids=[device.index])
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        run_epoch(model, data, optimizer)  # expect: DST117
