"""An item of a dict is taken out of its wrapper before it is saved, or another one is wrapped."""

import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def state_of(model):
    return model.state_dict()


def main(net, teacher):
    parts = {}
    parts["model"] = DDP(net)
    parts["teacher"] = teacher.cuda()
    parts["model"] = parts["model"].module
    torch.save(parts["model"].state_dict(), "model.pt")
    torch.save(parts["teacher"].state_dict(), "teacher.pt")


def with_epoch(net):
    model = DDP(net)
    found = {"epoch": 1}
    found["model"] = state_of(model.module)
    torch.save(found, "last.pt")
