import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def train(model, loader, optimizer):
    model = FSDP(model)
    for i, batch in enumerate(loader):
        model(batch).mean().backward()
        model.clip_grad_norm_(1.0)  # expect: DST615
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def once(model, loader, optimizer):
    model = FSDP(model)
    for i, batch in enumerate(loader):
        model(batch).mean().backward()
        if (i + 1) % 4 == 0:
            model.clip_grad_norm_(1.0)
            optimizer.step()
            optimizer.zero_grad()
