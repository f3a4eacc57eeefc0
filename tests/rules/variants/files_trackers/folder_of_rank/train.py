"""The twin: a folder for each rank."""

import torch
import torch.distributed as dist
from events import Events


def main(model, loader):
    dist.init_process_group("nccl")
    device = torch.device("cuda", dist.get_rank())
    events = Events(f"runs/{dist.get_rank()}", device)
    for step, batch in enumerate(loader):
        loss = model(batch.to(device)).sum()
        loss.backward()
        events.add(loss, step)
