import torch
import torch.distributed as dist
from sync import Updater, average
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(4, 1).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
updater = Updater(optimizer, model.parameters())


def fit(batches):
    for batch in batches:
        loss = model.module(batch).mean()
        loss.backward()
        average(list(model.parameters()))
        optimizer.step()


def fit_by_updater(batches):
    for batch in batches:
        loss = model.module(batch).mean()
        loss.backward()
        updater.update()
