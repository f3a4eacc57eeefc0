import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def step(net, batch):
    net(batch).sum().backward()


def make(data, net):
    d = {}
    d["train"] = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    return d


def main(data, net):
    setup()
    model = DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
    d = make(data, net)
    for epoch in range(9):
        d["train"].sampler.set_epoch(epoch)
        for batch in d["train"]:
            step(model, batch)
