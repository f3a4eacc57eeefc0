from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, tasks):
    model = DDP(model)
    loaders = {}
    for task in tasks:
        loaders[task] = DataLoader(sets[task], sampler=DistributedSampler(sets[task]))
    for index, task in enumerate(tasks):
        for batch in loaders[task]:
            model(batch).mean().backward()
