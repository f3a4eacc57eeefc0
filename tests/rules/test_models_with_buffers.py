"""A forward on one rank is an error where the model has buffers, and advice where that is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.rules.find import find
from distlint.source.document import Document

NETS = """\
import torch.nn as nn

from blocks import Block, Plain


def conv(width):
    return nn.Conv2d(width, width, 3)


class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList([Block(64) for _ in range(depth)])


class Given(nn.Module):
    def __init__(self, block, depth):
        super().__init__()
        self.layers = nn.Sequential(*[block(64) for _ in range(depth)])


class Head(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, images):
        return self.body(images).mean()


class Bare(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.layer = nn.Linear(width, 1)


def net18(**options):
    return Net(18)


def net50(**options):
    return Given(Block, 50), 2048


def plain(**options):
    return Plain()


BY_NAME = {"a": net18, "b": Net}
SOME = {"a": net18, "b": plain}
"""

BLOCKS = """\
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm2d(width)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
"""

PICKED = """\
from nets import Given
from blocks import Block


def small():
    return Given(Block, 3), 64


def large():
    return Given(Block, 9), 64
"""

TRAIN = """\
import sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
import nets
import picked
from blocks import Block

dist.init_process_group("gloo")
model = DDP({made})
model(torch.ones(1)).mean().backward()
if dist.get_rank() == 0:
    with torch.no_grad():
        print(model(torch.ones(1)))
dist.barrier()
"""

KNOWN = [
    "nets.Head(nets.net18())",
    "nets.Head(body=torch.nn.Sequential(nets.net18()))",
    "nets.Given(Block, 3)",
    "nets.Net(3)",
    "nets.net18()",
    "nets.net50()[0]",
    "nets.BY_NAME[sys.argv[1]](3)",
    "picked.__dict__[sys.argv[1]]()[0]",
    "getattr(picked, sys.argv[1])()[0]",
    "torch.nn.Sequential(nets.net18(), torch.nn.Linear(10, 1))",
    "torch.nn.Sequential(picked.__dict__[sys.argv[1]]()[0], torch.nn.Linear(10, 1))",
]
OPEN = [
    "nets.Given(load(sys.argv[1]), 3)",
    "nets.SOME[sys.argv[1]]()",
    "torch.nn.Sequential(load(sys.argv[1]), torch.nn.Linear(10, 1))",
    "nets.Head(load(sys.argv[1]))",
]
NONE = ["nets.Bare(4)", "torch.nn.Sequential(nets.Bare(4), torch.nn.ReLU())"]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        *((made, ["error"]) for made in KNOWN),
        *((made, ["info"]) for made in OPEN),
        *((made, []) for made in NONE),
    ],
)
def test_severity_follows_from_the_buffers(made: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS, "utf-8")
    (tmp_path / "blocks.py").write_text(BLOCKS, "utf-8")
    (tmp_path / "picked.py").write_text(PICKED, "utf-8")
    script = tmp_path / "train.py"
    script.write_text(TRAIN.format(made=made), "utf-8")
    found = find(Document.read(script), Project(tmp_path)).findings
    assert [each.severity.name.lower() for each in found if each.code == "DST115"] == expected
