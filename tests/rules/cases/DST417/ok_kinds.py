import argparse
import collections
import dataclasses
import random
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf


@dataclasses.dataclass
class Config:
    lr: float = 0.1


class Plain:
    def __reduce__(self):
        return (dict, ())


class Net(torch.nn.Module):
    pass


args = argparse.ArgumentParser().parse_args()


def as_dict(model):
    torch.save({"model": model, "args": vars(args), "lr": args.lr}, "a.pt")
    return torch.load("a.pt")["args"]


def of_dict(model):
    torch.save({"model": model, "args": dict(args.__dict__)}, "b.pt")
    return torch.load("b.pt")["args"]


def data_class(model):
    torch.save({"model": model, "config": dataclasses.asdict(Config())}, "c.pt")
    return torch.load("c.pt")["config"]


def omega(model, path):
    cfg = OmegaConf.load(path)
    torch.save({"model": model, "cfg": OmegaConf.to_container(cfg)}, "d.pt")
    return torch.load("d.pt")["cfg"]


def mean(model, losses):
    best = float(np.mean(losses))
    torch.save({"model": model, "best": best, "last": np.mean(losses).item()}, "e.pt")
    return torch.load("e.pt")["best"]


def lists(model):
    torch.save({"model": model, "all": np.zeros(3).tolist(), "nan": np.nan}, "f.pt")
    return torch.load("f.pt")["all"]


def states(model):
    torch.save({"model": model, "torch": torch.get_rng_state(), "py": random.getstate()}, "g.pt")
    return torch.load("g.pt")["torch"]


def counted(model):
    torch.save({"model": model, "seen": collections.Counter("ab"), "set": {1}}, "h.pt")
    return torch.load("h.pt")["seen"]


def ordered(model):
    torch.save({"model": model, "more": collections.OrderedDict(a=torch.float32)}, "i.pt")
    return torch.load("i.pt")["more"]


def path(model):
    torch.save({"model": model, "folder": str(Path("out"))}, "j.pt")
    return torch.load("j.pt")["folder"]


def unknown(model, config):
    torch.save({"model": model, "config": config}, "k.pt")
    return torch.load("k.pt")["config"]


def own_way(model):
    torch.save({"model": model, "plain": Plain()}, "l.pt")
    return torch.load("l.pt")["plain"]


def state_dicts(net):
    optimizer = torch.optim.Adam(net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    state = {"model": net.state_dict(), "optimizer": optimizer.state_dict()}
    state["schedule"] = schedule.state_dict()
    torch.save(state, "m.pt")
    return torch.load("m.pt")["optimizer"]


def module(model):
    torch.save({"model": model, "net": Net().state_dict()}, "n.pt")
    return torch.load("n.pt")["net"]


def removed(model, epoch):
    config = vars(argparse.Namespace(lr=1))
    state = {"model": model, **config}
    state.update(config, epoch=epoch)
    torch.save(state, "o.pt")
    return torch.load("o.pt")["epoch"]
