import logging

import torch
import torch.distributed as dist
import wandb
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm


def bound_first(loader):
    log = None
    rank = dist.get_rank()
    if rank == 0:
        log = logging.getLogger()
        log.setLevel(logging.INFO)
    for batch in loader:
        log.info("%s", batch)  # expect: DST517


def with_another_test(loader, model):
    bar = tqdm(total=len(loader)) if dist.get_rank() == 0 else None
    for batch in loader:
        loss = model(batch).mean()
        if torch.isnan(loss):
            bar.write("a bad loss")  # expect: DST517
            continue
        loss.backward()


def other_way(loader):
    history = None if dist.get_rank() != 0 else []
    for batch in loader:
        history.append(batch)  # expect: DST517


def in_both_arms(args):
    if dist.get_rank() == 0:
        table = {"lr": args.lr}
    else:
        table = None
    print(table["lr"])  # expect: DST517


class Trainer:
    def __init__(self, rank, model):
        self.model = model
        self.writer = None
        if rank == 0:
            self.writer = SummaryWriter("runs")

    def fit(self, loader):
        for step, batch in enumerate(loader):
            loss = self.model(batch).mean()
            loss.backward()
            self.writer.add_scalar("loss", loss.item(), step)  # expect: DST517


def start_run(rank):
    if rank == 0:
        return wandb.init(project="p")
    return None


def start_silently(rank):
    if rank != 0:
        return
    return SummaryWriter("runs")


def from_a_function(loader, rank):
    run = start_run(rank)
    writer = start_silently(rank)
    for batch in loader:
        run.log({"size": len(batch)})  # expect: DST517
        writer.add_scalar("size", len(batch))  # expect: DST517


def within(run, batch):
    run.log({"size": len(batch)})  # expect: DST517


def passed_on(loader, rank):
    mine = wandb.init(project="p") if rank == 0 else None
    for batch in loader:
        within(mine, batch)


def main(loader, model, args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    bound_first(loader)
    with_another_test(loader, model)
    other_way(loader)
    in_both_arms(args)
    trainer = Trainer(rank, model)
    trainer.fit(loader)
    from_a_function(loader, rank)
    passed_on(loader, rank)
