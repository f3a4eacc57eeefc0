import re
from collections import OrderedDict

import torch


class Restorer:
    PREFIX = "module."

    def __init__(self, net):
        self.net = net

    def load(self, path):
        clean = OrderedDict()
        for name, value in torch.load(path, map_location="cpu").items():
            clean[name.lstrip(self.PREFIX)] = value  # expect: DST402
        self.net.load_state_dict(clean)


def by_variable(net, path):
    clean = {}
    for key, value in torch.load(path, map_location="cpu")["model"].items():
        name = key.lstrip("module.")  # expect: DST402
        clean[name] = value
    net.load_state_dict(clean)


def after_a_test(net, state):
    net.load_state_dict(
        {
            k.strip("module.") if k.startswith("module.") else k: v  # expect: DST402
            for k, v in state.items()
        }
    )


def compiled(net, state):
    state = OrderedDict((k.lstrip("_orig_mod."), v) for k, v in state.items())  # expect: DST402
    net.load_state_dict(state)


def copied(net, state):
    own = net.state_dict()
    for key, value in state.items():
        key = key.lstrip("module.")  # expect: DST402
        if key in own:
            own[key].copy_(value)


def only_the_start(net, state):
    net.load_state_dict({k.removeprefix("module."): v for k, v in state.items()})
    net.load_state_dict({re.sub(r"^module\.", "", k): v for k, v in state.items()})
    net.load_state_dict({k.split("module.", 1)[-1]: v for k, v in state.items()})


def other_text(lines, text):
    print(text.strip("module."), text.lstrip("."))
    return {line.strip(): line.lstrip("#") for line in lines}
