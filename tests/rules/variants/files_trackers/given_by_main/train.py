"""The twin: rank 0 alone makes the object."""

import torch
import torch.distributed as dist
from events import Events


def main(model, loader):
    dist.init_process_group("nccl")
    device = torch.device("cuda", dist.get_rank())
    events = Events("runs", device) if dist.get_rank() == 0 else None
    for step, batch in enumerate(loader):
        loss = model(batch.to(device)).sum()
        loss.backward()
        if events is not None:
            events.add(loss, step)
