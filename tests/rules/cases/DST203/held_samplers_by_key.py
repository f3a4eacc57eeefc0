from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, epochs):
    model = DDP(model)
    orders, loaders = {}, {}
    for name in sets:
        orders[name] = DistributedSampler(sets[name])  # expect: DST203
        loaders[name] = DataLoader(sets[name], batch_size=8, sampler=orders[name])
    for epoch in range(epochs):
        for name in sets:
            for batch in loaders[name]:
                model(batch).mean().backward()
