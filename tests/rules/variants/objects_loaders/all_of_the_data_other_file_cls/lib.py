import os

import torch
import torch.distributed as dist


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def step(net, batch):
    net(batch).sum().backward()


class T:
    def __init__(self, x, model):
        self.x = x
        self.model = model

    def run(self):
        for epoch in range(9):
            for batch in self.x:
                step(self.model, batch)
