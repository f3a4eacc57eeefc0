"""The twin: the class tests what it gets."""

import torch.distributed as dist
from events import Events


def main(model, loader):
    dist.init_process_group("nccl")
    events = Events("runs", dist.get_rank())
    for step, batch in enumerate(loader):
        loss = model(batch).sum()
        loss.backward()
        events.add(loss, step)
