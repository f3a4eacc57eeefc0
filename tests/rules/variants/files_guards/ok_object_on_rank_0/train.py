import torch
import torch.distributed as dist
from torch import nn
from cb import Checkpoint
from torch.nn.parallel import DistributedDataParallel as DDP


def build(model, rank):
    return DDP(model.to(rank), device_ids=[rank])


def wrap(model, rank):
    model = DDP(model.to(rank), device_ids=[rank])
    return model


def main(header, loader, out, local_rank, accelerator):
    dist.init_process_group("nccl")
    rank = dist.get_rank()

    header = header if rank == 0 else None
    keep = Checkpoint(out)
    for step, batch in enumerate(loader):
        header(batch).mean().backward()
        keep.save(step, header)
