from torch.utils.data import DataLoader, DistributedSampler


def one(model, opt, loader, epoch, chunks):
    loader.sampler.set_epoch(epoch)
    it = iter(loader)
    for chunk in range(chunks):
        batch = next(it)
        model(batch).mean().backward()
        opt.step()


def fit(model, opt, data, epochs):
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
    for epoch in range(epochs):
        one(model, opt, loader, epoch, 4)
