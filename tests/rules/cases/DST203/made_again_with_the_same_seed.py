from torch.utils.data import DataLoader, DistributedSampler


def build(data, seed):
    sampler = DistributedSampler(data, seed=seed)  # expect: DST203
    return DataLoader(data, batch_size=4, sampler=sampler)


def fit(model, opt, data, seed):
    for epoch in range(9):
        loader = build(data, seed)
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
