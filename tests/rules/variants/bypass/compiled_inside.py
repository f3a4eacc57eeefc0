"""What is compiled is the module, not its wrapper."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader):
    dist.init_process_group("nccl")
    net = torch.nn.Linear(2, 2)
    ddp = DDP(net)
    fast = torch.compile(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for inputs in loader:
        loss = fast(inputs).mean()  # expect: DST613
        loss.backward()
        optimizer.step()
