from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from lightning.fabric import Fabric


def main(model, sets, epochs):
    fabric = Fabric()
    loaders = []
    for data in sets:
        loaders.append(DataLoader(data, sampler=DistributedSampler(data)))
    loaders = fabric.setup_dataloaders(*loaders)
    for epoch in range(epochs):
        for loader in loaders:
            for batch in loader:
                model(batch).mean().backward()
