from torch.utils.data import DataLoader, DistributedSampler


def fit(model, opt, data, args):
    sampler = DistributedSampler(data)  # expect: DST203
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    sampler.set_epoch(args.start_epoch)
    for epoch in range(args.start_epoch, args.epochs):
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
