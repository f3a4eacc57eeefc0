import torch
import torch.distributed as dist
from manager import Manager


class Trainer:
    def __init__(self):
        self.manager = Manager()

    def train(self):
        for step in range(10):
            if dist.get_rank() == 0:
                self.manager.add("text")
            dist.barrier()
            if self.manager.is_new():  # expect: DST110
                dist.all_reduce(torch.zeros(1))


dist.init_process_group("gloo")
Trainer().train()
