import torch
import torch.distributed as dist


def drawn(count, keep):
    print(dist.is_initialized())
    order = torch.randperm(count)
    return order[:keep], order[keep:]


def divided(tensor, keep):
    count = tensor.size(0)
    order = torch.randperm(count)
    return tensor[order[:keep]], tensor[order[keep:]]
