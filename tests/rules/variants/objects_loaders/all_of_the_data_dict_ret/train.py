import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def step(net, batch):
    net(batch).sum().backward()


def make(data, net):
    d = {}
    d["train"] = DataLoader(data, batch_size=8, shuffle=True)  # expect: DST202
    return d


def main(data, net):
    setup()
    model = DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
    d = make(data, net)
    for epoch in range(9):
        for batch in d["train"]:
            step(model, batch)
