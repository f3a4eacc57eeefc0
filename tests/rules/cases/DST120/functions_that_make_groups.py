import functools

import torch
import torch.distributed as dist


def agree(flag):
    group = dist.new_group(backend="gloo")  # expect: DST120
    dist.all_reduce(flag, group=group)
    return flag.item()


def inner(value, size):
    pair = dist.new_group(list(range(size)))  # expect: DST120
    dist.all_reduce(value, group=pair)


def outer(value, size):
    inner(value, size)


def lines(size):
    return [dist.new_group([a, a + 1]) for a in range(0, size, 2)]  # expect: DST120


@functools.lru_cache
def cached(size):
    return dist.new_group(list(range(size)))


def ended(value):
    group = dist.new_group([0, 1])
    dist.all_reduce(value, group=group)
    dist.destroy_process_group(group)


def varying(value, ranks):
    group = dist.new_group(ranks)
    dist.all_reduce(value, group=group)


def once(value):
    group = dist.new_group([0, 1])
    dist.all_reduce(value, group=group)


KEPT = {}


def kept(value, name):
    group = dist.new_group([0, 1])
    KEPT[name] = group
    dist.all_reduce(value, group=group)


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.group = dist.new_group([0, 1])
        self.lazy = None

    def control(self):
        if self.lazy is None:
            self.lazy = dist.new_group(backend="gloo")
        return self.lazy

    def mean(self, loss):
        group = dist.new_group(ranks=[0, 1], backend="gloo")  # expect: DST120
        total = loss.cpu()
        dist.all_reduce(total, group=group)
        return total / 2

    def fit(self, size):
        once(torch.ones(1))
        for step, batch in enumerate(self.loader):
            loss = self.model(batch)
            loss.backward()
            self.mean(loss)
            dist.all_reduce(loss, group=self.control())
            dist.all_reduce(loss, group=cached(size))
            outer(loss, size)
            ended(loss)
            kept(loss, "loss")
            varying(loss, [step % 2, 2])
            dist.all_reduce(loss, group=lines(size)[0])
            if agree(loss):
                break


def measure(values):
    for value in values:
        once(value)
