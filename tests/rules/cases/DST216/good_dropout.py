import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def drop_tokens(x, share):
    return x * (torch.rand_like(x) > share)


class StochasticDepth(nn.Module):
    def forward(self, x):
        keep = torch.rand(x.shape[0], 1, device=x.device) > 0.1
        return x * keep


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.depth = nn.Linear(4, 4), StochasticDepth()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.depth(self.layer(x)))


def main(args, loader):
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)
    model = DDP(Net())
    for x in loader:
        if torch.rand(1).item() < 0.5:
            x = x.flip(-1)
        model(drop_tokens(x, 0.1)).square().mean().backward()
