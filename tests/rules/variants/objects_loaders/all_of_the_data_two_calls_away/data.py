from torch.utils.data import DataLoader


def build(data):
    return DataLoader(data, batch_size=8, shuffle=True)  # expect: DST202
