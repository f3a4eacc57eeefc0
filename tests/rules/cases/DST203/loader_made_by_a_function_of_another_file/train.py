from data import make
from torch.utils.data import DistributedSampler


def fit(model, opt, data, epochs):
    sampler = DistributedSampler(data)  # expect: DST203
    loader = make(data, sampler)
    for epoch in range(epochs):
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
