import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(100):
        for micro in range(accum):
            model.require_backward_grad_sync = micro == accum - 1
            (model(next(loader)).mean() / accum).backward()
        optimizer.step()
        optimizer.zero_grad()
