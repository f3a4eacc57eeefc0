import argparse
import collections
import copy
import dataclasses
import datetime
import enum
import types
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
import tyro
from addict import Dict
from easydict import EasyDict as edict
from omegaconf import OmegaConf
from transformers import HfArgumentParser
from yacs.config import CfgNode as CN


@dataclasses.dataclass
class Config:
    lr: float = 0.1


class Meter:
    def __init__(self):
        self.best = 0.0


class Phase(enum.Enum):
    WARM = 1


class Wide(Config):
    pass


def namespace(model):
    args = argparse.ArgumentParser().parse_args()
    args.lr = 0.1
    torch.save({"model": model, "args": args}, "a.pt")
    return torch.load("a.pt")["args"]  # expect: DST417


def known_namespace(model):
    args, rest = argparse.ArgumentParser().parse_known_args()
    torch.save({"model": model, "args": args, "rest": rest}, "b.pt")
    return torch.load("b.pt")["args"]  # expect: DST417


def simple_namespace(model):
    torch.save({"model": model, "args": types.SimpleNamespace(lr=1)}, "c.pt")
    return torch.load("c.pt")["args"]  # expect: DST417


def data_class(model):
    config = Wide(lr=1)
    torch.save({"model": model, "config": config}, "d.pt")
    return torch.load("d.pt")["config"]  # expect: DST417


def own_class(model):
    meter = Meter()
    torch.save({"model": model, "meter": meter}, "e.pt")
    return torch.load("e.pt")["meter"]  # expect: DST417


def omega(model, path):
    cfg = OmegaConf.merge(OmegaConf.load(path), OmegaConf.from_cli())
    torch.save(dict(model=model, cfg=cfg), "f.pt")
    return torch.load("f.pt")["cfg"]  # expect: DST417


def yacs(model):
    cfg = CN()
    cfg.LR = 0.1
    torch.save({"model": model, "cfg": cfg.clone()}, "g.pt")
    return torch.load("g.pt")["cfg"]  # expect: DST417


def easy(model):
    torch.save({"model": model, "opt": edict(lr=0.1)}, "h.pt")
    return torch.load("h.pt")["opt"]  # expect: DST417


def added(model):
    torch.save({"model": model, "opt": Dict(lr=0.1)}, "i.pt")
    return torch.load("i.pt")["opt"]  # expect: DST417


def mean(model, losses):
    best = 0.0
    if losses:
        best = np.mean(losses)
    torch.save({"model": model, "best": best}, "j.pt")
    return torch.load("j.pt")["best"]  # expect: DST417


def random_states(model):
    states = {"numpy": np.random.get_state(), "torch": torch.get_rng_state()}
    torch.save({"model": model, "states": states}, "k.pt")
    return torch.load("k.pt")["states"]  # expect: DST417


def path(model):
    torch.save({"model": model, "folder": Path("out")}, "l.pt")
    return torch.load("l.pt")["folder"]  # expect: DST417


def time(model):
    torch.save({"model": model, "time": datetime.datetime.now()}, "m.pt")
    return torch.load("m.pt")["time"]  # expect: DST417


def history(model):
    history = defaultdict(list)
    torch.save({"model": model, "history": history}, "n.pt")
    return torch.load("n.pt")["history"]  # expect: DST417


def queue(model):
    torch.save({"model": model, "queue": collections.deque([1])}, "o.pt")
    return torch.load("o.pt")["queue"]  # expect: DST417


def optimizer(net):
    optimizer = torch.optim.Adam(net.parameters())
    torch.save({"model": net.state_dict(), "optimizer": optimizer}, "p.pt")
    return torch.load("p.pt")["optimizer"]  # expect: DST417


def copied(model):
    args = copy.deepcopy(argparse.Namespace(lr=1))
    torch.save({"model": model, "args": [args]}, "q.pt")
    return torch.load("q.pt")["args"]  # expect: DST417


def put_later(model):
    state = {"model": model}
    state["args"] = argparse.Namespace(lr=1)
    torch.save(state, "r.pt")
    return torch.load("r.pt")["args"]  # expect: DST417


def explicit(model):
    torch.save({"model": model, "args": argparse.Namespace(lr=1)}, "s.pt")
    return torch.load("s.pt", weights_only=True)["model"]  # expect: DST417


def class_itself(model):
    torch.save({"model": model, "config": Config}, "t.pt")
    return torch.load("t.pt")["config"]  # expect: DST417


def updated(model, epoch):
    state = {"model": model}
    state.update({"epoch": epoch})
    state.update(args=argparse.Namespace(lr=1))
    torch.save(state, "u.pt")
    return torch.load("u.pt")["epoch"]  # expect: DST417


def spread(model, epoch):
    state = dict(model=model, args=argparse.Namespace(lr=1))
    torch.save({**state, "epoch": epoch}, "v.pt")
    return torch.load("v.pt")["epoch"]  # expect: DST417


def two_at_once(model, epoch):
    state = {"model": model}
    state["epoch"], state["args"] = epoch, argparse.Namespace(lr=1)
    torch.save(state, "w.pt")
    return torch.load("w.pt")["epoch"]  # expect: DST417


def either(model, epoch, keep):
    args = argparse.ArgumentParser().parse_args()
    torch.save({"model": model, "epoch": epoch, "args": args if keep else None}, "x.pt")
    return torch.load("x.pt")["epoch"]  # expect: DST417


def of_tyro(model):
    config = tyro.cli(Config)
    torch.save({"model": model, "config": config}, "y.pt")
    return torch.load("y.pt")["config"]  # expect: DST417


def of_transformers(model):
    first, second = HfArgumentParser((Config, Wide)).parse_args_into_dataclasses()
    torch.save({"model": model, "config": first}, "z.pt")
    return torch.load("z.pt")["config"]  # expect: DST417
