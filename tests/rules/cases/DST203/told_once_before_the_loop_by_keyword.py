from torch.utils.data import DataLoader, DistributedSampler


def fit(model, opt, data, ckpt, epochs):
    sampler = DistributedSampler(data)  # expect: DST203
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    first = ckpt["epoch"] + 1
    loader.sampler.set_epoch(epoch=first)
    for epoch in range(first, epochs):
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
