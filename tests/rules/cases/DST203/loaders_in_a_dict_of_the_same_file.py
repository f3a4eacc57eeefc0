from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def loaders_for(data, other):
    order = DistributedSampler(data)  # expect: DST203
    found = {"train": DataLoader(data, batch_size=8, sampler=order)}
    found["val"] = DataLoader(other, batch_size=8)
    return found


def main(model, data, other, epochs):
    model = DDP(model)
    loaders = loaders_for(data, other)
    for epoch in range(epochs):
        for batch in loaders["train"]:
            model(batch).mean().backward()
