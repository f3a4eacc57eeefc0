import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from engine import Engine


def main(data, device):
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    net = DistributedDataParallel(torch.nn.Linear(2, 2).to(device), device_ids=[device.index])
    engine = Engine(net, torch.optim.SGD(net.parameters(), 0.1))
    engine.fit(data)  # expect: DST117
