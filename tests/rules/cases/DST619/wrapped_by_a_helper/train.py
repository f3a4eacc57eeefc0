import torch
from accelerate import Accelerator
from helpers import prepared, replicate


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(2, 1)
        self.stride = 4

    def forward(self, x):
        return self.head(x)


def main():
    nets = {}
    nets["student"] = replicate(Net())
    print(nets["student"].stride)  # expect: DST619


def with_accelerate(model):
    accelerator = Accelerator()
    adam = torch.optim.Adam(model.parameters())
    model, adam = prepared(accelerator, model, adam)
    print(model.stride)  # expect: DST619
