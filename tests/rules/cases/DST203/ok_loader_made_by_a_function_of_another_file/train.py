from data import make
from torch.utils.data import DistributedSampler


def fit(model, opt, data, epochs):
    sampler = DistributedSampler(data)
    loader = make(data, sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            model(batch).mean().backward()
            opt.step()


def through_the_loader(model, opt, data, epochs):
    order = DistributedSampler(data)
    batches = make(data, order)
    for epoch in range(epochs):
        batches.sampler.set_epoch(epoch)
        for batch in batches:
            model(batch).mean().backward()
            opt.step()


def once(model, opt, data):
    single = DistributedSampler(data)
    for batch in make(data, single):
        model(batch).mean().backward()
        opt.step()
