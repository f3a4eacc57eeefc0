"""DST402 warns where the model that is loaded has the word that is cut inside a name."""

from __future__ import annotations

from pathlib import Path

from distlint.analyzer.project.project import Project
from distlint.engine.trial import marks
from distlint.rules.find import find
from distlint.source.document import Document

NETS = """\
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_module = nn.Linear(4, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.uses_module = bool(self.layer)
"""

SCRIPT = """\
import re

import torch
from nets import Net, Plain

PATTERN = re.compile(r"module\\.")


class Restoring(Net):
    def __init__(self):
        super().__init__()

    def restore(self, path):
        state = torch.load(path, map_location="cpu")
        state = {k.replace("module.", ""): v for k, v in state.items()}  # expect: DST402
        self.load_state_dict(state)


def cut(state):
    return {k.split("module.")[-1]: v for k, v in state.items()}  # expect: DST402


def renamed(net, path):
    state = {}
    for key, value in torch.load(path, map_location="cpu").items():
        name = re.sub("module.", "", key)  # expect: DST402
        state[name] = value
    net.load_state_dict(state)


def by_pattern(path):
    net = Net().cuda()
    clean = torch.load(path, map_location="cpu")
    clean = {PATTERN.sub("", k): v for k, v in clean.items()}  # expect: DST402
    net.load_state_dict(clean)


def main():
    net = Net()
    renamed(net, "a.pt")
    net.load_state_dict(cut(torch.load("b.pt", map_location="cpu")))


def of_another_model(path):
    state = torch.load(path, map_location="cpu")
    plain = Plain()
    plain.load_state_dict({k.replace("module.", ""): v for k, v in state.items()})
    plain.load_state_dict({k.replace("module.", "", 1): v for k, v in state.items()})


def only_the_start(path):
    net = Net()
    state = torch.load(path, map_location="cpu")
    net.load_state_dict({re.sub(r"^module\\.", "", k): v for k, v in state.items()})
"""


def test_names_that_hold_the_word_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    found = find(Document.read(script), Project(tmp_path)).findings
    rows = [(each.place.span.row, each.code) for each in found if each.code == "DST402"]
    shown = [each.place.span.row for each in found if each.code == "DST402" and not each.preview]
    assert sorted((row, "DST402") for row in shown) == marks(SCRIPT)
    assert len(rows) == len(shown) + 2  # what is cut off the names of `Plain` is for preview
