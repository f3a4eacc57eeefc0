from torch.nn.parallel import DistributedDataParallel as DDP


def move(module, rank):
    module.cuda(rank)


def wrap(module, rank):
    return DDP(module, device_ids=[rank])
