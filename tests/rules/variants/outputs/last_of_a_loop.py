import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def evaluate(model, loader):
    total = 0
    for batch in loader:
        out = model(batch)
        total += out["loss"]
    dist.all_reduce(total)
    if "top10" in out:
        dist.all_reduce(out["top10"])
    if "image" in batch:
        dist.all_reduce(batch["image"])
