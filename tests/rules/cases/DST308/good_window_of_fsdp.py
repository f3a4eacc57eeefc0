import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = FSDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(loader):
        (model(batch).mean() / accum).backward()
        if (index + 1) % accum == 0 or index + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
