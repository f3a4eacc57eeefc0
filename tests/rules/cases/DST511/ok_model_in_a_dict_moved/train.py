import torch.distributed as dist
from places import move, wrap
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, x):
        return self.body(x)


def main(rank):
    dist.init_process_group("nccl")
    parts = {}
    parts["model"] = Net()
    parts["model"].cuda(rank)
    parts["model"] = DDP(parts["model"], device_ids=[rank])
    parts["other"] = Net()
    move(parts["other"], rank)
    parts["other"] = DDP(parts["other"], device_ids=[rank])
    third = Net()
    third.cuda(rank)
    return wrap(third, rank)
