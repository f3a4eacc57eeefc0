from torch.utils.data import DataLoader, DistributedSampler


class Runner:
    def __init__(self, args, train_set, valid_set):
        train_sampler = None
        valid_sampler = DistributedSampler(valid_set, shuffle=False)
        train_loader = DataLoader(train_set, 8, shuffle=True)  # expect: DST202
        valid_loader = DataLoader(valid_set, 8, sampler=valid_sampler)
        self.train_loader, self.valid_loader = train_loader, valid_loader
        self.train_sampler = train_sampler
