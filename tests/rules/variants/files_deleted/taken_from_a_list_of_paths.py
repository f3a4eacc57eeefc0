"""Paths of pathlib that are joined, kept in a list and taken out again."""

from collections import deque
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import torch
import torch.distributed as dist


class Keeper:
    def __init__(self, out):
        self.out = Path(out)
        self.kept = deque()
        self.own = []

    def save(self, epoch):
        path = self.out / f"{epoch}.pt"
        if dist.get_rank() == 0:
            torch.save({}, path)
        dist.barrier()
        self.kept.append(path)
        if len(self.kept) > 3:
            self.kept.popleft().unlink()  # expect: DST413

    def save_own(self, epoch):
        path = self.out / f"{epoch}-{dist.get_rank()}.pt"
        torch.save({}, path)
        self.own.append(path)
        if len(self.own) > 3:
            self.own.pop(0).unlink()

    def forget(self):
        last = self.out / "last.pt"
        last.unlink()  # expect: DST413

    def forget_if_there(self):
        last = self.out / "other.pt"
        last.unlink(missing_ok=True)


def share(size):
    shared = SharedMemory(create=True, size=size)
    shared.unlink()


def main(args):
    dist.init_process_group("gloo")
    keeper = Keeper(args.out)
    for epoch in range(args.epochs):
        keeper.save(epoch)
        keeper.save_own(epoch)
    keeper.forget()
    keeper.forget_if_there()
    share(args.size)
