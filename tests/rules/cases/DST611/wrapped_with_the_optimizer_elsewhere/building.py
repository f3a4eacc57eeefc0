import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def build(net):
    model = FSDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    return model, optimizer
