import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, x):
        return self.body(x)


def perform(model, batches):
    for x in batches:
        model(x.cuda())


def main(rank, batches):
    dist.init_process_group("nccl")
    parts = {}
    parts["model"] = Net()
    parts["model"] = DDP(parts["model"], device_ids=[rank])  # expect: DST511
    perform(parts["model"], batches)
