"""The average of the weights is on the master alone, and decides on the broadcasts of it."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Average:
    def __init__(self, decay):
        self.decay = decay
        self.shadow = {}

    def update(self, module):
        for name, value in module.state_dict().items():
            old = self.shadow.get(name, value)
            self.shadow[name] = old * self.decay + value * (1 - self.decay)


def train(decay=0.9, epochs=2):
    is_master = dist.get_rank() == 0
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    average = Average(decay) if decay > 0.0 and is_master else None
    for _ in range(epochs):
        model(torch.ones(1, 2)).sum().backward()
        if average is not None:  # expect: DST110
            average.update(model)
            for value in model.state_dict().values():
                dist.broadcast(value, 0)
        dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train()
