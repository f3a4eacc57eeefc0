import torch
from building import build


class Trainer:
    def __init__(self, net):
        self.model, self.optimizer = build(net)

    def step(self, x):
        self.model(x).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0)  # expect: DST611
        self.optimizer.step()
