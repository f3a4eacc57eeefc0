"""The arguments by their names, in another order."""

import torch
import torch.distributed as dist
from events import Events


def main(model, loader):
    dist.init_process_group("nccl")
    device = torch.device("cuda", dist.get_rank())
    events = Events(device=device, folder="runs")
    for step, batch in enumerate(loader):
        loss = model(batch.to(device)).sum()
        loss.backward()
        events.add(loss, step)
