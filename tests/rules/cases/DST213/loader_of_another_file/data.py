from torch.utils.data import DataLoader, Subset


def make(ds, index, count, bs):
    ds = Subset(ds, range(index, len(ds) // count * count, count))
    return DataLoader(ds, batch_size=bs, shuffle=True)
