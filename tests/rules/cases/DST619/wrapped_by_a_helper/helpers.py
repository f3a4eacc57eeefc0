from torch.nn.parallel import DistributedDataParallel as DDP


def replicate(net):
    return DDP(net)


def prepared(accelerator, model, adam):
    return accelerator.prepare(model, adam)
