"""It is the memory of something else, or nothing but the meeting matters."""

import torch
import torch.distributed as dist
import numpy as np


def shared(x, model, counts, out):
    dist.all_reduce(x.data)
    dist.all_reduce(x.detach())
    dist.all_reduce(x.view(-1))
    dist.all_reduce(x[0])
    dist.all_reduce(x.contiguous())
    dist.all_reduce(torch.from_numpy(counts))
    dist.all_reduce(torch.as_tensor(counts))
    dist.all_gather_into_tensor(out.view(-1), x.float())
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        dist.broadcast(parameter.data, src=0)


def warm_up(rank, device, size):
    dist.all_reduce(torch.zeros(1).cuda())
    dist.all_reduce(torch.ones(1, device=device))
    dist.all_reduce(torch.tensor([1]))
    dist.all_reduce(torch.randn(size, device=device))
    dist.all_reduce(torch.ones(1) * rank)
    dist.all_reduce(size.clone())
    dist.all_reduce(torch.tensor(rank, device=device))


def kept(loss):
    total = loss.detach() * 4
    dist.all_reduce(total)
    dist.all_reduce(copy := loss.clone())
    return total, copy


def sent(rank, config, x):
    if rank == 0:
        dist.broadcast_object_list([config], src=0)
        dist.broadcast(x.float(), src=0)
    else:
        received = [None]
        dist.broadcast_object_list(received, src=0)
        dist.broadcast(x, src=0)


def sent_first(config):
    if dist.get_rank() != 0:
        received = [None]
        dist.broadcast_object_list(received, src=0)
        return received[0]
    dist.broadcast_object_list([config], src=0)
    return config
