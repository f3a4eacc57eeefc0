from torch.nn.parallel import DistributedDataParallel


def replicate(model, device):
    return DistributedDataParallel(model, device_ids=[device])
