from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def put(loaders, name, data):
    order = DistributedSampler(data)  # expect: DST203
    loaders[name] = DataLoader(data, batch_size=8, sampler=order)


def main(model, sets, epochs):
    model = DDP(model)
    loaders = {}
    for name, data in sets.items():
        put(loaders, name, data)
    for name, loader in sorted(loaders.items()):
        for epoch in range(epochs):
            for batch in loader:
                model(batch).mean().backward()
