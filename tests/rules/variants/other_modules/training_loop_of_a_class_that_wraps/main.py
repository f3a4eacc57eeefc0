import torch
from importlib import import_module


def run(config, model):
    trainer = getattr(import_module("trainer"), config["trainer"])
    trainer(config, model).fit(config["loader"], config["optimizer"])
