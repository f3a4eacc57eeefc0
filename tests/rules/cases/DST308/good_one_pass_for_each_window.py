import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = 0
    for index, batch in enumerate(loader):
        losses = losses + model(batch).mean() / accum
        if (index + 1) % accum == 0 or index + 1 == len(loader):
            losses.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses = 0
