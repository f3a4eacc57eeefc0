"""Dataclasses and named tuples keep what they are made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver

HEAD = """\
import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import torch.distributed as dist

"""
TAIL = """

dist.init_process_group("nccl")
env = {made}
if {asked}:
    dist.barrier()
"""
PLAIN = "@dataclass\nclass Env:\n    rank: int\n    world: int = 1\n"
MAIN = "\n    @property\n    def main(self):\n        return self.rank == 0\n"


def hangs(folder: Path, record: str, made: str, asked: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(HEAD + record + TAIL.format(made=made, asked=asked))
    report = check_paths([folder], Resolver(Overrides(isolated=True), folder), jobs=1)
    return [each.code for each in report.findings if each.code == "DST101"]


@pytest.mark.parametrize(
    ("record", "made", "asked"),
    [
        (PLAIN, "Env(dist.get_rank())", "env.rank == 0"),
        (PLAIN, "Env(rank=dist.get_rank(), world=4)", "env.rank == 0"),
        (PLAIN + MAIN, "Env(dist.get_rank())", "env.main"),
        (
            PLAIN.replace("@dataclass", "@dataclass(frozen=True)"),
            "Env(dist.get_rank())",
            "not env.rank",
        ),
        (PLAIN.replace("@", "@dataclasses."), "Env(dist.get_rank())", "env.rank < 1"),
        (
            PLAIN.replace("@dataclass\n", "").replace("Env", "Env(NamedTuple)"),
            "Env(dist.get_rank())",
            "env.rank == 0",
        ),
        (
            PLAIN + "    main: bool = False\n\n    def __post_init__(self):\n"
            "        self.main = self.rank == 0\n",
            "Env(dist.get_rank())",
            "env.main",
        ),
        (
            "@dataclass\nclass Env:\n    world: int = 1\n    rank: int = field(default=0)\n",
            "Env(4, dist.get_rank())",
            "env.rank == 0",
        ),
        (
            "@dataclass\nclass Env:\n    rank: int\n\n    @classmethod\n    def here(cls):\n"
            "        return cls(dist.get_rank())\n",
            "Env.here()",
            "env.rank == 0",
        ),
        (
            PLAIN + "\n\ndef setup():\n    return Env(dist.get_rank(), 2)\n",
            "setup()",
            "env.rank == 0",
        ),
    ],
    ids=[
        "positional",
        "by keyword",
        "a property",
        "frozen",
        "an attribute of the module",
        "a named tuple",
        "after the constructor",
        "a field with a default",
        "a class method",
        "through a function",
    ],
)
def test_a_rank_in_a_record(tmp_path: Path, record: str, made: str, asked: str) -> None:
    assert hangs(tmp_path, record, made, asked) == ["DST101"]


@pytest.mark.parametrize(
    ("record", "made", "asked"),
    [
        (PLAIN, "Env(dist.get_rank(), 4)", "env.world > 1"),
        (PLAIN, "Env(0, dist.get_world_size())", "env.rank == 0"),
        (PLAIN, "Env(dist.get_rank())", "env.world == 1"),
        ("@dataclass\nclass Env:\n    debug: bool = False\n", "Env()", "env.debug"),
    ],
    ids=["another field", "a constant", "a default", "without arguments"],
)
def test_what_is_the_same_in_the_records_of_all_ranks(
    tmp_path: Path, record: str, made: str, asked: str
) -> None:
    assert hangs(tmp_path, record, made, asked) == []
