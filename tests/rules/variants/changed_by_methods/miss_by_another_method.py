"""The method calls another one, which adds to the list."""

import torch
import torch.distributed as dist


class Manager:
    def __init__(self):
        self.history = []

    def add(self, text):
        self._keep(text)

    def _keep(self, text):
        self.history.append(text)

    def is_new(self):
        return len(self.history) == 0


def main():
    dist.init_process_group("gloo")
    manager = Manager()
    for step in range(10):
        if dist.get_rank() == 0:
            manager.add("text")
        dist.barrier()
        if manager.is_new():  # expect: DST110
            dist.all_reduce(torch.zeros(1))
