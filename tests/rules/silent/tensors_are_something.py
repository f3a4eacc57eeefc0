"""A tensor that has been made is not None, on the rank that has the data and on the others."""

import torch
import torch.distributed as dist


def send(tensor):
    if tensor is None:
        return
    dist.broadcast(tensor, src=0)


def share(batches):
    if dist.get_rank() == 0:
        tokens = next(batches)["tokens"].long()
        tokens[tokens < 0] = 0
        positions = torch.arange(tokens.numel()).clone()
        send(tokens.contiguous())
        send(positions)
    else:
        send(torch.empty((4,), dtype=torch.int64))
        send(torch.empty((4,), dtype=torch.int64))


dist.init_process_group("gloo")
share(iter([{"tokens": torch.tensor([1, -1, 2, 3])}]))
dist.barrier()
dist.destroy_process_group()
