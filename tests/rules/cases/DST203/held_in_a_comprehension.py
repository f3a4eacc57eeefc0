from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def make(data):
    return DataLoader(data, batch_size=8, sampler=DistributedSampler(data))  # expect: DST203


def main(model, sets, epochs):
    model = DDP(model)
    loaders = {name: make(data) for name, data in sets.items()}
    for epoch in range(epochs):
        for name in loaders:
            for batch in loaders[name]:
                model(batch).mean().backward()
