import torch
from timm.utils import AverageMeter
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(model, loader, opt, writer):
    rank = dist.get_rank()
    total = AverageMeter()
    for i, x in enumerate(loader):
        loss = model(x).mean()
        loss.backward()
        opt.step()
        total.update(loss)
        if rank == 0:
            writer.add_scalar("train/loss", loss.item(), i)
