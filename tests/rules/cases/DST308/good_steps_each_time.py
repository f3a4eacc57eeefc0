import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for index, batch in enumerate(loader):
        model(batch).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if (index + 1) % 100 == 0:
            scheduler.step()
            print(index)
