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


SAVING = """\
import torch.distributed as dist


def keep_all(model, is_main):
    if is_main:
        dist.barrier()


def main(model):
    keep_all(model, dist.get_rank() == 0)
"""
SCRIPT = """\
import torch.distributed as dist
from {package}.utils import keep_all

dist.init_process_group("nccl")
keep_all(None, dist.get_rank() == 0)
dist.barrier()
"""


def codes_of(folder: Path, package: str, script: str, modules: tuple[str, ...]) -> list[str]:
    """What is found in a script beside a package with these modules, which holds a mistake."""
    for name in ("__init__.py", "utils.py", *modules):
        path = folder / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SAVING if name == "utils.py" else "")
    (folder / "distlint.toml").touch()
    (folder / script).parent.mkdir(parents=True, exist_ok=True)
    (folder / script).write_text(SCRIPT.format(package=package))
    outcome = check_paths([folder / script], Resolver())
    return [finding.code for finding in outcome.findings if finding.code == "DST101"]


ACCELERATE = ("accelerator.py", "state.py")


def test_a_script_means_the_same_beside_the_sources_of_a_framework_as_where_it_is_installed(
    tmp_path: Path,
) -> None:
    assert codes_of(tmp_path, "accelerate", "examples/train.py", ACCELERATE) == []


def test_a_framework_is_looked_into_from_inside(tmp_path: Path) -> None:
    assert codes_of(tmp_path, "accelerate", "accelerate/train.py", ACCELERATE) == ["DST101"]


@pytest.mark.parametrize(
    ("package", "modules"),
    [("accelerate", ()), ("accelerate", ("state.py",)), ("helpers", ACCELERATE)],
    ids=["of the same name", "with a module of the same name", "another"],
)
def test_packages_of_the_project_are_looked_into(
    tmp_path: Path, package: str, modules: tuple[str, ...]
) -> None:
    assert codes_of(tmp_path, package, "examples/train.py", modules) == ["DST101"]
