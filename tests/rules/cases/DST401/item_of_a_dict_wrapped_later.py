"""An item of a dict is wrapped after it was made, and its state comes from a function."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def state_of(model):
    return model.state_dict()  # expect: DST401


def main(net):
    parts = {}
    parts["model"] = net.cuda()
    parts["model"] = DDP(parts["model"])
    torch.save(parts["model"].state_dict(), "model.pt")  # expect: DST401


def with_epoch(net):
    model = DDP(net)
    found = {"epoch": 1}
    found["model"] = state_of(model)
    torch.save(found, "last.pt")
