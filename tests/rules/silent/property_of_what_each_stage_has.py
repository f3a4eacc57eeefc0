"""Each stage reduces the gradient of its own copy of a weight: both copies are there, or none."""

import torch.distributed as dist


class Average:
    def __init__(self, path):
        self.path = path


def reduce_shared_weight(model, group):
    chunk = model[0] if dist.get_rank() == 0 else model[-1]
    weight = getattr(chunk, "shared_weight", None)
    if weight is None:
        return
    if hasattr(weight, "full_tensor"):
        grad = weight.grad.full_tensor()
    else:
        grad = weight.grad
    dist.all_reduce(grad, group=group)


def broadcast_buffers(model, device):
    if dist.get_rank() == 0:
        model = model.to(device)
    else:
        model = model.to_empty(device=device)
    for buffer in model.buffers():
        dist.broadcast(buffer, src=0)


def resume(path, epochs):
    average = Average(path) if dist.get_rank() == 0 else None
    first = epochs.first_after(path, average)
    for _ in range(first, epochs.last):
        dist.barrier()
