from torch.utils.data import DataLoader, DistributedSampler


def fit(model, opt, data, ckpt, epochs):
    sampler = DistributedSampler(data)  # expect: DST203
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    epoch = ckpt["epoch"] + 1
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(epoch)
    while epoch < epochs:
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
        epoch += 1
