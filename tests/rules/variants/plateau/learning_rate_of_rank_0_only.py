"""Only one rank steps its scheduler, by a loss of its own."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import ReduceLROnPlateau


def main(net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = ReduceLROnPlateau(optimizer)
    for _epoch in range(5):
        for inputs in loader:
            loss = model(inputs).sum()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            scheduler.step(loss)  # expect: DST623
