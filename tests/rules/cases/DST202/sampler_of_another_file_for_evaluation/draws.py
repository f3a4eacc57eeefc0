from torch.utils.data import DistributedSampler


def make(data):
    return DistributedSampler(data, shuffle=False)
