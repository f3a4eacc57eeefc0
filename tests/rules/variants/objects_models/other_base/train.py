import os

import torch
import torch.distributed as dist

from lib import Base


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def step(net, batch):
    net(batch).sum().backward()


class T(Base):
    def run(self):
        if dist.get_rank() == 0:
            torch.save(self.x.state_dict(), "last.pt")  # expect: DST401


def main(data, net):
    T(data, net).run()
