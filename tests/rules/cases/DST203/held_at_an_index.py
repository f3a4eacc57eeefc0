from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def make(data):
    order = DistributedSampler(data)  # expect: DST203
    return DataLoader(data, batch_size=8, sampler=order)


def main(model, sets, epochs):
    model = DDP(model)
    loaders = list(make(data) for data in sets)
    for index in range(len(loaders)):
        loader = loaders[index]
        for epoch in range(epochs):
            for batch in loader:
                model(batch).mean().backward()
