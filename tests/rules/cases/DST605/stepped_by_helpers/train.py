import torch
from helpers import go_back, step, types
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision


def main(model, optimizer, batches):
    for x in batches:
        with torch.autocast("cuda", dtype=torch.float16):  # expect: DST605
            loss = model(x).mean()
        go_back(loss)
        step(optimizer)


def sharded(net, batches):
    precision: MixedPrecision = types()  # expect: DST605
    model = FullyShardedDataParallel(net, mixed_precision=precision)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in batches:
        go_back(model(x).mean())
        step(optimizer)
