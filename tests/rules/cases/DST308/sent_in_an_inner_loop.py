import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = iter(loader)
    for _ in range(100):
        for _ in range(accum):
            (model(next(batches)).mean() / accum).backward()  # expect: DST308
        optimizer.step()
        optimizer.zero_grad()
