import logging

import torch.distributed as dist
import wandb
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm


class Silent:
    def add_scalar(self, *args):
        pass


def tested_first(loader):
    log = logging.getLogger() if dist.get_rank() == 0 else None
    for batch in loader:
        if log is not None:
            log.info("%s", batch)
        log and log.info("next")
        print(log.name if log else "quiet")


def left_if_none(loader):
    bar = tqdm(loader) if dist.get_rank() == 0 else None
    if bar is None:
        return
    bar.close()


def under_the_same_test(loader, rank):
    run = None
    if rank == 0:
        run = wandb.init()
    for batch in loader:
        if rank == 0 and batch:
            run.log({"size": len(batch)})


def replaced(rank):
    writer = SummaryWriter("runs") if rank == 0 else None
    writer = writer or Silent()
    writer.add_scalar("a", 1)


def other_kind(rank):
    writer = SummaryWriter("runs") if rank == 0 else Silent()
    writer.add_scalar("a", 1)


def made_on_all(rank, args):
    log = None
    if rank == 0 or args.log_all:
        log = logging.getLogger("all")
    else:
        log = logging.getLogger("quiet")
    log.info("begins")


def by_a_flag(loader, rank):
    is_logging = rank == 0
    run = wandb.init() if is_logging else None
    for batch in loader:
        if is_logging:
            run.log({"size": len(batch)})


def sent(rank):
    box = [{"lr": 1}] if rank == 0 else [None]
    dist.broadcast_object_list(box, src=0)
    print(box[0]["lr"])


class Trainer:
    def __init__(self, rank):
        self.rank = rank
        self.writer = None
        self.data = None
        if rank == 0:
            self.writer = SummaryWriter("runs")

    def prepare(self, data):
        self.data = data

    def log(self, step, loss):
        self.writer.add_scalar("loss", loss, step)

    def fit(self, loader):
        self.data.begin()
        for step, batch in enumerate(loader):
            if self.rank == 0:
                self.log(step, batch)
        if self.writer:
            self.writer.close()


def main(loader, args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    tested_first(loader)
    left_if_none(loader)
    under_the_same_test(loader, rank)
    replaced(rank)
    other_kind(rank)
    made_on_all(rank, args)
    by_a_flag(loader, rank)
    sent(rank)
    Trainer(rank).fit(loader)
