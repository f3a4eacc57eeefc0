import torch
import torch.distributed as dist


def warm_up(model, batch):
    for weight in model.parameters():
        weight.requires_grad = False
    for weight in model.module.head.parameters():
        weight.requires_grad = True
    model(batch).sum().backward()
