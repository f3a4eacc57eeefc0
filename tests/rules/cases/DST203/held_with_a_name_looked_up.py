from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, sets, epochs):
    model = DDP(model)
    loaders = {}
    for phase in ("train", "extra"):
        order = DistributedSampler(sets[phase])  # expect: DST203
        loaders[phase] = DataLoader(sets[phase], batch_size=8, sampler=order)
    for epoch in range(epochs):
        for batch in loaders["train"]:
            model(batch).mean().backward()
