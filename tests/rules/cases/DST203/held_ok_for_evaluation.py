from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, train, epochs):
    model = DDP(model)
    val_loaders = {}
    for name, data in sets.items():
        val_loaders[name] = DataLoader(data, sampler=DistributedSampler(data))
    losses = []
    for epoch in range(epochs):
        train(model)
        for name, loader in val_loaders.items():
            for batch in loader:
                losses.append(model(batch).mean().item())
