import torch.distributed as dist

from files import save


def finish(model):
    if dist.get_rank() > 0:
        return
    save(model, "final.pt")
