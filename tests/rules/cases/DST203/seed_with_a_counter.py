from torch.utils.data import DataLoader, DistributedSampler


def build(data, seed):
    sampler = DistributedSampler(data, seed=seed)
    return DataLoader(data, batch_size=4, sampler=sampler)


def fit(model, opt, data, seed):
    epoch = 0
    while epoch < 9:
        for batch in build(data, seed + epoch):
            model(batch).mean().backward()
            opt.step()
        epoch += 1
