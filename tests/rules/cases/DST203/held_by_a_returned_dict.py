from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def loaders_of(sets):
    found = dict()
    for name, data in sets.items():
        order = DistributedSampler(data)  # expect: DST203
        found.update({name: DataLoader(data, batch_size=8, sampler=order)})
    return found


def fit(model, parts, epochs):
    for epoch in range(epochs):
        for part in parts.values():
            for batch in part:
                model(batch).mean().backward()


def main(model, sets):
    fit(DDP(model), loaders_of(sets), 3)
