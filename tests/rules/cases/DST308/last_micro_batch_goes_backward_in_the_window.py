import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, optimizer, loader):
    model = DDP(model)
    for step, batch in enumerate(loader):
        loss = model(batch).mean() / 4
        loss.backward()  # expect: DST308
        if step % 4 == 0:  # expect: DST308
            model(batch).norm().backward()
            optimizer.step()
            optimizer.zero_grad()
