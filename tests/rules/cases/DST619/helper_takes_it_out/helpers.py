from torch.nn.parallel import DistributedDataParallel as DDP


def replicate(net):
    return DDP(net)


def inside(model):
    return model.module


def replicated(net, wrap):
    if not wrap:
        return net
    return DDP(net)
