"""A further turn of a loop is walked where it can do what the first has not done."""

from __future__ import annotations

import pytest

from distlint.engine.run import check_stdin
from distlint.engine.settings import Resolver
from tests.support import about_hangs, findings

HEAD = """\
import random

import torch
import torch.distributed as dist


class Counter:
    def __init__(self):
        self.steps = 0

    def step(self):
        self.steps += 1


def train(loader, epochs, counter):
    total, first, mode, before, seen = 0, True, "warm", None, []
    rank = dist.get_rank()
    values = {"n": 0}
"""
LATE = """\
def late(number):
    if number > 0 and dist.get_rank() == 0:
        dist.barrier()


"""
TAIL = """\
    dist.all_reduce(torch.ones(1))


dist.init_process_group("gloo")
train(load(), 3, Counter())
"""
ALONE = "if rank == 0:\n{pad}    dist.barrier()"

SECOND_TURN = {
    "number of the turn": """\
    for step, x in enumerate(loader):
        if step > 0:
            {alone}
""",
    "true of a number": """\
    for step in range(epochs):
        if step:
            {alone}
""",
    "made of the number": """\
    for step in range(epochs):
        double = 2 * step
        if double >= 2:
            {alone}
""",
    "given to a function": """\
    for step in range(epochs):
        late(step)
""",
    "given to it by name": """\
    for step in range(epochs):
        late(number=step)
""",
    "flag": """\
    for x in loader:
        if not first:
            {alone}
        first = False
""",
    "None before": """\
    for x in loader:
        if before is not None:
            {alone}
        before = x
""",
    "text": """\
    for x in loader:
        if mode == "hot":
            {alone}
        mode = "hot"
""",
    "counter": """\
    for x in loader:
        if total == 1:
            {alone}
        total += 1
""",
    "counter of an object": """\
    for x in loader:
        if counter.steps == 1:
            {alone}
        counter.step()
""",
    "list that grows": """\
    for x in loader:
        if len(seen) > 0:
            {alone}
        seen.append(x)
""",
    "item of a dict": """\
    for x in loader:
        if values["n"] > 0:
            {alone}
        values["n"] = 1
""",
    "while": """\
    while True:
        if total == 1:
            {alone}
        total += 1
        if done(total):
            break
""",
    "outer loop": """\
    for epoch in range(epochs):
        for x in loader:
            if epoch > 0:
                {alone}
""",
    "in an expression": """\
    for step in range(epochs):
        last = rank == 0 if step > 0 else False
        if last:
            dist.barrier()
""",
    "local sum": """\
    for x in loader:
        if total > 3:
            dist.barrier()
        total += random.random()
""",
}


def script(body: str) -> str:
    lines = []
    for line in body.splitlines(keepends=True):
        pad = line[: len(line) - len(line.lstrip())]
        lines.append(line.replace("{alone}", ALONE.replace("{pad}", pad)))
    head = HEAD.replace("class Counter", LATE + "class Counter") if "late(" in body else HEAD
    return head + "".join(lines) + TAIL


@pytest.mark.parametrize("body", SECOND_TURN.values(), ids=SECOND_TURN.keys())
def test_what_only_a_second_turn_does_is_found(body: str) -> None:
    assert about_hangs(findings(script(body)))


@pytest.mark.parametrize("body", SECOND_TURN.values(), ids=SECOND_TURN.keys())
def test_the_same_on_all_ranks_is_no_hang(body: str) -> None:
    on_all = (
        script(body)
        .replace("rank == 0", "epochs == 0")
        .replace("dist.get_rank() == 0", "dist.is_initialized()")
    )
    on_all = on_all.replace("random.random()", "1")
    assert about_hangs(findings(on_all)) == []


NESTED = "".join(
    f"{'    ' * (depth + 1)}for x{depth} in part{depth}(loader):\n"
    f"{'    ' * (depth + 2)}if chosen{depth}(x{depth}):\n"
    f"{'    ' * (depth + 3)}dist.all_reduce(x{depth})\n"
    for depth in range(5)
)


def test_loops_in_loops_are_within_budget() -> None:
    report = check_stdin(script(NESTED).encode(), None, Resolver())
    assert (report.findings, report.over_budget) == ((), 0)
