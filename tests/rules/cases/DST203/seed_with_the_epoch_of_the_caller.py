from torch.utils.data import DataLoader, DistributedSampler


def build(data, seed):
    sampler = DistributedSampler(data, seed=seed)
    return DataLoader(data, batch_size=4, sampler=sampler)


def fit(model, opt, data, seed):
    for epoch in range(9):
        seed_of_epoch = hash((seed, epoch))
        loader = build(data, seed_of_epoch)
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
