from torch.nn.parallel import DistributedDataParallel as DDP


def wrapped(net):
    return DDP(net)
