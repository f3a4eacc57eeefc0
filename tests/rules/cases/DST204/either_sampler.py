from torch.utils.data import DataLoader


def make(d, sampler=None, batches=None):
    sampler = None if batches else pick(d)
    return DataLoader(d, sampler=sampler, batch_sampler=batches)
