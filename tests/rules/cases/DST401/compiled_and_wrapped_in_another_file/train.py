import torch
from wrappers import wrapped


def main(net):
    net = torch.compile(net)
    model = wrapped(net)
    torch.save(model.module.state_dict(), "model.pt")  # expect: DST401
