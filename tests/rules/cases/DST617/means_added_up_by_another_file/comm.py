import torch
import torch.distributed as dist


def total(value, device):
    tensor = torch.as_tensor(value, device=device)
    dist.all_reduce(tensor)
    return tensor.item()


def mean(value, device):
    tensor = torch.as_tensor(value, device=device)
    dist.all_reduce(tensor)
    return tensor.item() / dist.get_world_size()
