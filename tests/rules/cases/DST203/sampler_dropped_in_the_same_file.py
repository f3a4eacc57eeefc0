from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def init_data(data):
    sampler = DistributedSampler(data)  # expect: DST203
    return DataLoader(data, batch_size=8, sampler=sampler), sampler


def main(model, data, epochs):
    model = DDP(model)
    loader, _ = init_data(data)
    for epoch in range(epochs):
        for batch in loader:
            model(batch).mean().backward()
