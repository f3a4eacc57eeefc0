"""A method adds to the list of an object on rank 0, and all ranks ask how long it is."""

import torch
import torch.distributed as dist


class Manager:
    def __init__(self):
        self.history = []

    def add(self, text):
        self.history.append(text)

    def reward(self):
        if len(self.history) == 0:
            return 1.0
        return 0.5


class Trainer:
    def __init__(self):
        self.manager = Manager()

    def train(self):
        rank = dist.get_rank()
        for step in range(10):
            reward = self.manager.reward()
            if rank == 0:
                self.manager.add("text")
            dist.barrier()
            if reward == 1.0:  # expect: DST110
                continue
            dist.all_reduce(torch.zeros(1))


dist.init_process_group("gloo")
Trainer().train()
