from torch.utils.data import DataLoader


def whole_batches(data):
    return DataLoader(data, batch_size=4, shuffle=True, drop_last=True)


def all_batches(data):
    return DataLoader(data, batch_size=4, shuffle=True)
