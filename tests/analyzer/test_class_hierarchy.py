"""A base class calls what the classes below it define, also where these are in another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver

BASE = """\
import torch.distributed as dist


class Base:
    def __init__(self):
        dist.init_process_group("nccl")
        self.is_main = dist.get_rank() == 0

    def run(self):
        for epoch in range(3):
            if self.is_main:
                self.after_epoch(epoch)

    def after_epoch(self, epoch):
        pass
"""
HOOK = """\
    def after_epoch(self, epoch):
        dist.barrier()
"""
SCRIPT = """\
import torch.distributed as dist
from base import Base


class Mine(Base):
    def after_epoch(self, epoch):
        dist.barrier()


if __name__ == "__main__":
    Mine().run()
"""
PASS = "        pass\n"
ABSTRACT = """\
from abc import ABC, abstractmethod
"""
MAIN_ONLY = """\
    def after_epoch(self, epoch):
        if self.is_main:
            dist.barrier()
"""
ALL = BASE.replace(
    "            if self.is_main:\n                self.after", "            self.after"
)
WITHOUT_RANKS = """\
class Base:
    def run(self):
        for epoch in range(3):
            self.after_epoch(epoch)
"""
OWN_RANK = """\
import torch.distributed as dist
from base import Base


class Mine(Base):
    def after_epoch(self, epoch):
        if dist.get_rank() == 0:
            dist.barrier()


dist.init_process_group("nccl")
Mine().run()
"""


def hangs(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    report = check_paths([folder], Resolver(Overrides(isolated=True), folder), jobs=1)
    return [each.place.path.name for each in report.findings if each.code == "DST101"]


@pytest.mark.parametrize(
    "files",
    [
        {"base.py": BASE, "train.py": SCRIPT},
        {
            "base.py": BASE.replace(PASS, "        raise NotImplementedError\n"),
            "train.py": SCRIPT,
        },
        {"base.py": BASE.partition("    def after_epoch")[0], "train.py": SCRIPT},
        {
            "base.py": ABSTRACT
            + BASE.replace("class Base", "class Base(ABC)").replace(
                "    def after", "    @abstractmethod\n    def after"
            ),
            "train.py": SCRIPT,
        },
        {
            "base.py": BASE.replace(PASS, '        """What is done after an epoch."""\n'),
            "train.py": SCRIPT,
        },
        {"base.py": ALL, "train.py": SCRIPT.replace(HOOK, MAIN_ONLY)},
        {
            "base.py": BASE,
            "middle.py": "from base import Base\n\n\nclass Middle(Base):\n    name = 'x'\n",
            "train.py": SCRIPT.replace(
                "from base import Base", "from middle import Middle"
            ).replace("(Base)", "(Middle)"),
        },
        {
            "lib/__init__.py": "from .base import Base\n",
            "lib/base.py": BASE,
            "train.py": SCRIPT.replace("from base", "from lib"),
        },
        {
            "base.py": BASE,
            "train.py": SCRIPT.replace("import Base", "import Base as Runner").replace(
                "(Base)", "(Runner)"
            ),
        },
        {
            "base.py": BASE,
            "train.py": SCRIPT.replace(
                HOOK, HOOK + "\n    def run(self):\n        super().run()\n        print('done')\n"
            ),
        },
        {"base.py": WITHOUT_RANKS, "train.py": OWN_RANK},
        {
            "base.py": BASE,
            "mine.py": SCRIPT.partition("\n\nif")[0] + "\n",
            "train.py": "from mine import Mine\n\nMine().run()\n",
        },
    ],
    ids=[
        "empty",
        "not implemented",
        "missing",
        "abstract",
        "a docstring",
        "the test is in the class below",
        "two classes up",
        "a package",
        "another name",
        "run of the class below",
        "a base class without a sign of ranks",
        "the class is in another file than the script",
    ],
)
def test_what_a_base_class_calls_on_rank_0(tmp_path: Path, files: dict[str, str]) -> None:
    assert len(hangs(tmp_path, files)) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"base.py": ALL, "train.py": SCRIPT},
        {"base.py": BASE, "train.py": SCRIPT.replace("dist.barrier()", "print(epoch)")},
        {"base.py": BASE},
    ],
    ids=["on all ranks", "nothing communicates", "no class below"],
)
def test_what_a_base_class_calls_may_be_right(tmp_path: Path, files: dict[str, str]) -> None:
    assert hangs(tmp_path, files) == []


@pytest.mark.xfail(strict=True, reason="a method that does something may be overridden as well")
def test_a_hook_that_does_something_where_it_is_defined(tmp_path: Path) -> None:
    files = {"base.py": BASE.replace(PASS, "        print(epoch)\n"), "train.py": SCRIPT}
    assert len(hangs(tmp_path, files)) == 1
