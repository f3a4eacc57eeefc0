from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, epochs):
    model = DDP(model)
    loaders = [DataLoader(data, sampler=DistributedSampler(data)) for data in sets]
    for epoch in range(epochs):
        for loader in loaders:
            loader.sampler.set_epoch(epoch)
            for batch in loader:
                model(batch).mean().backward()
