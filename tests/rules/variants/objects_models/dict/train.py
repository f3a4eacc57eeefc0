import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def step(net, batch):
    net(batch).sum().backward()


def main(data, net):
    setup()
    d = {"train": DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])}
    if dist.get_rank() == 0:
        torch.save(d["train"].state_dict(), "last.pt")  # expect: DST401
