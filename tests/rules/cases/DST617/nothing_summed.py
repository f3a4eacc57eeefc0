from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)


def evaluate(model):
    bound = 0
    for b in loader:
        model(b)
    return bound / len(loader.dataset)
