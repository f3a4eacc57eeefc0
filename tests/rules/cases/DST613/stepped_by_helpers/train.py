import torch
from helpers import embedded, go_back, replicate
from torch.nn.parallel import DistributedDataParallel


def main(net, batches):
    model: DistributedDataParallel = replicate(net)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in batches:
        loss = model.module(x).mean()  # expect: DST613
        go_back(loss, optimizer)


def by_an_embedding(net, batches):
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in batches:
        loss = embedded(model, x).mean()  # expect: DST613
        loss.backward()
        optimizer.step()
