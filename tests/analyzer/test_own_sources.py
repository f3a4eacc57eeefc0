"""A framework's own sources: the catalogue's word counts, however a function is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver

COMM = """\
from deepspeed.utils import timed

cdb = None


@timed
def all_reduce(tensor, op=None, group=None):
    return cdb.all_reduce(tensor, op, group)


def get_rank(group=None):
    return cdb.get_rank(group)
"""
ENGINE = """\
{import_}
import torch


def clip(overflow: torch.Tensor, group) -> None:
    if {dist}get_rank() == 0:
        {dist}all_reduce(overflow, group=group)
"""


def found(folder: Path, import_: str, dist: str) -> list[tuple[int, str]]:
    sources = {
        "__init__.py": "",
        "utils.py": "from backend import timed\n",
        "comm/__init__.py": "from .comm import *\n",
        "comm/comm.py": COMM,
        "runtime/__init__.py": "",
        "runtime/engine.py": ENGINE.format(import_=import_, dist=dist),
    }
    for name, text in sources.items():
        path = folder / "deepspeed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    engine = folder / "deepspeed" / "runtime" / "engine.py"
    outcome = check_paths([engine], Resolver())
    return [(finding.place.span.row, finding.code) for finding in outcome.findings]


@pytest.mark.parametrize(
    ("import_", "dist"),
    [
        ("from deepspeed import comm as dist", "dist."),
        ("import deepspeed.comm as dist", "dist."),
        ("from deepspeed.comm import all_reduce, get_rank", ""),
        ("from .. import comm as dist", "dist."),
        ("from ..comm import all_reduce, get_rank", ""),
        ("from ..comm.comm import all_reduce, get_rank", ""),
    ],
)
def test_a_collective_of_a_backend_that_is_chosen_at_run_time(
    tmp_path: Path, import_: str, dist: str
) -> None:
    assert found(tmp_path, import_, dist) == [(6, "DST101")]
