import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.tensorboard import SummaryWriter


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value):
        self.sum += value
        self.count += 1

    @property
    def avg(self):
        return self.sum / self.count


def main(model, loader, opt):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DDP(model.cuda())
    if rank == 0:
        writer = SummaryWriter("x")
    total = AverageMeter()
    for i, x in enumerate(loader):
        loss = model(x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total.update(loss.item())
        if rank == 0:
            writer.add_scalar("train/loss", loss.item(), i)  # expect: DST906
