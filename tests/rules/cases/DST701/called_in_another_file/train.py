import torch
from notes import begin, note


@torch.compile
def step(x):
    y = x * 2
    note("step")  # expect: DST701
    return y + 1


class Net(torch.nn.Module):
    def forward(self, x):
        started = begin()  # expect: DST701
        return x * 2, started


model = torch.compile(Net())
