import json

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class EarlyStopper:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def step(self, value):
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def main(net, loader, optimizer, epochs):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(net)
    stopper = EarlyStopper(3)
    saved = 0
    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        if dist.get_rank() == 0:
            saved = epoch
            torch.save({"epoch": saved}, "state.pt")
        if stopper.step(loss.item()):
            break  # expect: DST102
    print(json.dumps({"saved": saved}))
    dist.barrier()
