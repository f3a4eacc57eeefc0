from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, epochs):
    model = DDP(model)
    samplers, loaders = {}, {}
    for name, data in sets.items():
        samplers[name] = DistributedSampler(data)
        loaders[name] = DataLoader(data, batch_size=8, sampler=samplers[name])
    for epoch in range(epochs):
        for sampler in samplers.values():
            sampler.set_epoch(epoch)
        for loader in loaders.values():
            for batch in loader:
                model(batch).mean().backward()
