"""The wrapper is called; the module computes the loss of its outputs, and is saved."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs, labels in loader:
        loss = net.loss(model(inputs), labels)
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        torch.save(net.state_dict(), "model.pt")
