import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(loader):
        loss = model(batch).mean()
        if accum > 1:
            (loss / accum).backward()  # expect: DST308
            if (index + 1) % accum == 0 or index + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
        else:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
