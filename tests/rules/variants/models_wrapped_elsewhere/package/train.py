import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

import core


def main(data, device):
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 2).to(device), device_ids=[device.index])
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    core.fit(model, data, torch.nn.MSELoss(), optimizer)  # expect: DST117
