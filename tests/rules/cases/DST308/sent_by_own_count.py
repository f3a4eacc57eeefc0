import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    count = 0
    for batch in loader:
        (model(batch).mean() / accum).backward()  # expect: DST308
        count += 1
        if count >= accum:
            optimizer.step()
            optimizer.zero_grad()
            count = 0
    optimizer.step()
