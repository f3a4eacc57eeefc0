from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, heads, first, second, epochs):
    model = DDP(model)
    one = DataLoader(first, sampler=DistributedSampler(first))  # expect: DST203
    other = DataLoader(second, sampler=DistributedSampler(second))  # expect: DST203
    for epoch in range(epochs):
        for head, loader in zip(heads, [one, other]):
            for batch in loader:
                head(model(batch)).mean().backward()
