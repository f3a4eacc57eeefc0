"""After a fix, ranks meet in collectives that belong together, as they did before."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.fix import Repairs, repair
from distlint.engine.run import check_paths
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver
from tests.support import repaired

START = """\
import torch
import torch.distributed as dist


def is_main():
    return dist.get_rank() == 0


"""

SETUP = """
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    part = torch.ones(1)
    model = torch.nn.Linear(2, 2)
"""

END = """
    dist.broadcast(part, src=0)


main()
"""

TURNS = """\
def cached(rank, part):
    if rank != 0:
        dist.{0}
    data = torch.ones(3)
    if rank == 0:
        dist.{0}
    return data


"""

ONCE_MORE = """
    cached(rank, part)
    if rank == 0:
        print(cached(rank, part).mean())
"""

SAVING = """\
def save(rank, model):
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
        dist.barrier()


def load(rank, model):
    if rank != 0:
        dist.barrier()
    model.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))


"""

SAVED_TWICE = """
    save(rank, model)
    load(rank, model)
    if rank == 0:
        save(rank, model)
"""


def script(helpers: str, body: str) -> str:
    return START + helpers + "def main():" + SETUP + body.lstrip("\n") + END.lstrip("\n")


HARMFUL = {
    "barrier": script(TURNS.format("barrier()"), ONCE_MORE),
    "all_reduce": script(TURNS.format("all_reduce(part)"), ONCE_MORE),
    "objects": script(TURNS.format("broadcast_object_list([part], src=0)"), ONCE_MORE),
    "group": script(
        TURNS.format("barrier(part)").replace("part", "group"),
        "    group = dist.new_group()\n" + ONCE_MORE.lstrip("\n").replace("part", "group"),
    ),
    "condition": script(
        TURNS.format("barrier()").replace(
            ":\n        dist", " and part is not None:\n        dist"
        ),
        ONCE_MORE,
    ),
    "deeper": script(
        TURNS.format("barrier()")
        + "def score(rank, part):\n    return cached(rank, part).mean()\n\n\n"
        + "def evaluate(rank, part):\n    return {'score': score(rank, part)}\n\n\n",
        ONCE_MORE.replace("print(cached(rank, part).mean())", "print(evaluate(rank, part))"),
    ),
    "method": START
    + """\
class Trainer:
    def __init__(self):
        dist.init_process_group("gloo")
        self.rank = dist.get_rank()

    def load(self, name):
        if self.rank != 0:
            dist.barrier()
        data = torch.ones(3)
        if self.rank == 0:
            dist.barrier()
        return data

    def evaluate(self):
        return self.load("dev").mean()

    def train(self):
        total = self.load("train").sum()
        if self.rank == 0:
            print(self.evaluate())
        dist.all_reduce(total)


Trainer().train()
""",
    "region": START.replace(
        "import torch\n", "from contextlib import contextmanager\n\nimport torch\n"
    )
    + """\
@contextmanager
def main_first(rank):
    if rank != 0:
        dist.barrier()
    yield
    if rank == 0:
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    with main_first(rank):
        data = torch.ones(3)
    if rank == 0:
        with main_first(rank):
            print(data.mean())
    dist.all_reduce(data)
    dist.destroy_process_group()


main()
""",
    "in the middle": script(
        """\
def count(rank, part):
    if rank != 0:
        dist.all_reduce(part)
    if rank == 0:
        print("counting")
        dist.all_reduce(part)
        print("counted")


""",
        """
    count(rank, part)
    if rank == 0:
        count(rank, part)
""",
    ),
    "two functions": script(SAVING, SAVED_TWICE),
    "exit": script(
        SAVING.replace(
            """\
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
        dist.barrier()
""",
            """\
    if rank != 0:
        return
    torch.save(model.state_dict(), "model.pt")
    dist.barrier()
""",
        ),
        SAVED_TWICE,
    ),
}
"""Scripts whose only fix lets the ranks come through, one a collective ahead of the others."""

BUG = """
    if rank == 0:
        dist.all_reduce(part)
"""
FIXED = """
    dist.all_reduce(part)
"""

LEGAL = {
    "arms": script(
        "",
        BUG
        + """\
    if rank == 0:
        print("saving")
        dist.barrier()
    else:
        dist.barrier()
""",
    ),
    "functions in arms": script(
        """\
def lead():
    print("saving")
    dist.barrier()


def follow():
    dist.barrier()


""",
        BUG
        + """\
    if rank == 0:
        lead()
    else:
        follow()
""",
    ),
    "one helper in arms": script(
        "def wait():\n    dist.barrier()\n\n\n",
        "    wait()\n"
        + BUG.lstrip("\n")
        + "    if rank == 0:\n        wait()\n    else:\n        wait()\n",
    ),
    "turns after the bug": script(
        TURNS.format("barrier()"), BUG + "    cached(rank, part)\n    cached(rank, part)\n"
    ),
    "turns before the bug": script(
        TURNS.format("barrier()"), "    cached(rank, part)\n    cached(rank, part)" + BUG
    ),
    "turns around the bug": script(
        TURNS.format("barrier()"), "    cached(rank, part)" + BUG + "    cached(rank, part)\n"
    ),
    "saved and loaded": script(SAVING, BUG + "    save(rank, model)\n    load(rank, model)\n"),
    "one after the other": script(
        "",
        BUG
        + """\
    for _ in range(rank):
        dist.barrier()
    print("mine")
    for _ in range(dist.get_world_size() - rank):
        dist.barrier()
""",
    ),
    "each in its turn": script(
        "",
        BUG
        + """\
    for turn in range(dist.get_world_size()):
        if turn == rank:
            print("mine")
        dist.barrier()
""",
    ),
}
"""Scripts in which ranks meet at different places as they should, and a fix of something else."""


@pytest.mark.parametrize("name", HARMFUL)
def test_a_fix_does_not_let_collectives_of_different_places_meet(name: str) -> None:
    assert repaired(HARMFUL[name]) == HARMFUL[name]


@pytest.mark.parametrize("name", LEGAL)
def test_a_fix_may_leave_the_same_collective_at_different_places(name: str) -> None:
    assert repaired(LEGAL[name]) == LEGAL[name].replace(BUG, FIXED)


def project_repaired(folder: Path, helpers: str, body: str) -> Repairs:
    """What the fixes of a module come to that a script of the same run imports."""
    (folder / "helpers.py").write_text(START + helpers)
    (folder / "train.py").write_text(
        script("", body).replace(START, START + "from helpers import *\n")
    )
    resolver = Resolver(Overrides(Layer(), isolated=True), folder)
    return repair(check_paths([folder], resolver), resolver, unsafe=True, write=False)


HALVES = """\
def before(rank):
    if rank != 0:
        dist.barrier()


def after(rank):
    if rank == 0:
        dist.barrier()


"""


@pytest.mark.parametrize(
    ("helpers", "body"),
    [
        (HALVES, "    before(rank)\n    print('data')\n    after(rank)\n"),
        (SAVING, "    save(rank, model)\n    load(rank, model)\n"),
    ],
)
def test_ranks_that_wait_for_each_other_in_an_importer_still_do(
    tmp_path: Path, helpers: str, body: str
) -> None:
    repairs = project_repaired(tmp_path, helpers, body)
    assert repairs.files == []
    first, second = (notice.message for notice in repairs.notices)
    assert first.startswith("fix of DST101 (line ")
    assert first.endswith("train.py, ranks would not wait for each other in barrier")
    assert "not applied: it would introduce DST101 in " in second


def test_a_helper_is_fixed_whose_importer_meets_itself(tmp_path: Path) -> None:
    repairs = project_repaired(tmp_path, HALVES[: HALVES.index("def after")], "    before(rank)\n")
    assert [fixed.path.name for fixed in repairs.files] == ["helpers.py"]
    assert repairs.notices == []


def test_it_is_said_which_collectives_would_meet(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HARMFUL["two functions"])
    resolver = Resolver(Overrides(Layer(), isolated=True), tmp_path)
    repairs = repair(check_paths([path], resolver), resolver, unsafe=True, write=False)
    assert [notice.message for notice in repairs.notices] == [
        "fix of DST101 (line 10) not applied: "
        "barrier (line 12) would meet another call of barrier (line 17)"
    ]
