from torch.utils.data import DataLoader, DistributedSampler


def fit(model, opt, data, epochs, start):
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
    epoch = start
    loader.sampler.set_epoch(epoch)
    it = iter(loader)
    for step in range(start, epochs):
        try:
            batch = next(it)
        except StopIteration:
            epoch += 1
            loader.sampler.set_epoch(epoch)
            it = iter(loader)
            batch = next(it)
        model(batch).mean().backward()
        opt.step()
