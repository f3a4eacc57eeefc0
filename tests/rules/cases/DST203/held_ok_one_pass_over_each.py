from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets):
    model = DDP(model)
    loaders = []
    for data in sets:
        loaders.append(DataLoader(data, batch_size=8, sampler=DistributedSampler(data)))
    for loader in loaders:
        for batch in loader:
            model(batch).mean().backward()
