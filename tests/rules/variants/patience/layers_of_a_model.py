"""A constant that counts nothing, compared with another."""

import torch.distributed as dist

LAYERS = 2


def main(model, loader):
    for batch in loader:
        loss = model(batch).mean()
        if dist.get_rank() == 0 and LAYERS > 4:
            print(loss.item())
        if LAYERS > 4:
            dist.all_reduce(loss)
    dist.barrier()
