from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, epochs):
    model = DDP(model)
    loaders = {}
    for name, data in sets.items():
        order = DistributedSampler(data, shuffle=False)
        loaders[name] = DataLoader(data, sampler=order)
    for epoch in range(epochs):
        for loader in loaders.values():
            for batch in loader:
                model(batch).mean().backward()
