import horovod.torch as hvd
import torch
from accelerate import Accelerator

accelerator = Accelerator()


def accuracy(correct, seen):
    accelerator.reduce(correct, reduction="sum")  # expect: DST118
    seen = accelerator.reduce(seen, reduction="sum")
    return correct / seen


class Meter:
    def __init__(self, accelerator: Accelerator):
        self.accelerator = accelerator
        self.total = torch.zeros(1)

    def value(self):
        self.accelerator.reduce(self.total)  # expect: DST118
        return self.total.item()

    def meet(self):
        self.accelerator.reduce(self.total)
        self.total = torch.zeros(1)
        return self.total.item()


def mean(loss):
    hvd.allreduce(loss)  # expect: DST118
    print(loss.item())


def in_place(loss):
    hvd.allreduce_(loss)
    print(loss.item())


def wait():
    accelerator.reduce(torch.zeros(1))
