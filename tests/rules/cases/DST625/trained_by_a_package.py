import torch
import torch.distributed as dist
from engine_pretrain import train_one_epoch
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, loader):
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for epoch in range(args.epochs):
        train_one_epoch(model, loader, optimizer, epoch)
        if dist.get_rank() == 0:
            scheduler.step()  # expect: DST625
