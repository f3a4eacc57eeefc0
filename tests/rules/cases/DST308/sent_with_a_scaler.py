import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, accum):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler()
    for epoch in range(3):
        for index, batch in enumerate(loader):
            with torch.autocast("cuda"):
                loss = model(batch).mean() / accum
            scaler.scale(loss).backward()  # expect: DST308
            if (index + 1) % accum == 0 or index + 1 == len(loader):
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
