from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def loaders_for(data, other):
    order = DistributedSampler(data)
    return {"train": DataLoader(data, batch_size=8, sampler=order), "val": DataLoader(other)}


def main(model, data, other, epochs):
    model = DDP(model)
    loaders = loaders_for(data, other)
    for epoch in range(epochs):
        loaders["train"].sampler.set_epoch(epoch)
        for batch in loaders["train"]:
            model(batch).mean().backward()
