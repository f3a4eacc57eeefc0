from torch.utils.data import DataLoader


def val_loader_for(data):
    return DataLoader(data, batch_size=8)
