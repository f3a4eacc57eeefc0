from torch.nn.parallel import DistributedDataParallel as DDP


def replicate(net, device):
    return DDP(net.to(device), device_ids=[device], find_unused_parameters=True)
