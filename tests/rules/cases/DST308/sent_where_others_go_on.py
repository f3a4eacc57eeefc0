import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(loader, start=1):
        (model(batch).mean() / accum).backward()  # expect: DST308
        if index % accum and index < len(loader):
            continue
        optimizer.step()
        optimizer.zero_grad()
