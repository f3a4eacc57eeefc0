import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, test_loader):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()

    model.module.head = nn.Linear(512, 2)
    model.half()
    with torch.no_grad():
        for batch in test_loader:
            print(model(batch))
    torch.save(model.module.cpu().state_dict(), "last.pt")
