"""Methods that change an object on all ranks, or what decides nothing, or what only rank 0 asks."""

import torch
import torch.distributed as dist


class Manager:
    def __init__(self):
        self.history = []
        self.count = 0

    def add(self, text):
        self.history.append(text)
        self.count += 1

    def is_new(self):
        return len(self.history) == 0


class Meter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value):
        self.sum += value
        self.count += 1


dist.init_process_group("gloo")
rank = dist.get_rank()


def on_all_ranks():
    manager = Manager()
    for step in range(10):
        if rank == 0:
            print("step", step)
        manager.add(step)
        if manager.is_new():
            dist.all_reduce(torch.zeros(1))


def asked_on_rank_0():
    manager = Manager()
    for step in range(10):
        if rank == 0:
            manager.add(step)
        dist.all_reduce(torch.zeros(1))
        if rank == 0 and manager.is_new():
            print("nothing yet")


def printed(loader, model):
    meter = Meter()
    for batch in loader:
        loss = model(batch)
        dist.all_reduce(loss)
        if rank == 0:
            meter.update(loss.item())
        if meter.count > 10:
            print(meter.sum / meter.count)


def sent():
    manager = Manager()
    for step in range(10):
        if rank == 0:
            manager.add(step)
        answer = [manager.is_new()]
        dist.broadcast_object_list(answer, src=0)
        if answer[0]:
            dist.all_reduce(torch.zeros(1))


def other_object():
    manager, log = Manager(), Manager()
    for step in range(10):
        if rank == 0:
            log.add(step)
        if manager.is_new():
            dist.all_reduce(torch.zeros(1))


def in_both_arms():
    manager = Manager()
    for step in range(10):
        if rank == 0:
            manager.add("first")
        else:
            manager.add("other")
        if manager.is_new():
            dist.all_reduce(torch.zeros(1))


on_all_ranks()
asked_on_rank_0()
sent()
other_object()
in_both_arms()
