import torch
import torch.distributed as dist
from data import build
from steps import train_step
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(data, net):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = build(data)
    for epoch in range(10):
        for batch in loader:
            train_step(model, optimizer, batch)


def here(data, net):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data, batch_size=8, shuffle=True)  # expect: DST202
    for epoch in range(10):
        for batch in loader:
            train_step(model, optimizer, batch)
