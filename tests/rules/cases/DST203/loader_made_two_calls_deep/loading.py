from torch.utils.data import DataLoader

from data import sampler_for


def build(data):
    return DataLoader(data, batch_size=4, sampler=sampler_for(data))
