import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


from passes import run


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(loader):
        last = (index + 1) % accum == 0 or index + 1 == len(loader)
        loss = run(model, batch, last) / accum
        loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
