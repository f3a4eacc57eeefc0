from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, epochs):
    model = DDP(model)
    loaders = []
    for data in sets:
        sampler = DistributedSampler(data)  # expect: DST203
        loaders.append(DataLoader(data, batch_size=8, sampler=sampler))
    for epoch in range(epochs):
        for loader in loaders:
            for batch in loader:
                model(batch).mean().backward()
