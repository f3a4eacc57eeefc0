"""No file ends the process that checks it, nor takes it much time or memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.hostile import HARMLESS, KINDS, MEGABYTE, SCRIPT, Ended, check_limited

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits need `resource`")

MEMORY = 100
"""Megabytes that a hostile file may take, over what any file takes."""
AT_THE_LIMIT = {
    "lambda with default": 350,
    "conditional": 490,
    "minus": 980,
    "sum": 800,
    "sum of calls": 150,
    "and of or": 300,
    "method": 300,
    "nested arguments": 140,
    "nested brackets": 70,
    "clauses": 390,
    "strings": 2200,
    "elif": 990,
    "nested mappings": 6,
    "blocks": 99,
}
"""The largest sizes, or half of them, that are analysed."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The check of a file in which nothing is hostile."""
    path = tmp_path_factory.mktemp("plain") / "a.py"
    path.write_text(SCRIPT)
    return check_limited(str(path))


def test_files_of_every_kind_in_one_process(tmp_path: Path, plain: Ended) -> None:
    for number, kind in enumerate(sorted(KINDS.keys() - HARMLESS)):
        (tmp_path / f"f{number:02}.py").write_text(SCRIPT + KINDS[kind](20_000))
    (tmp_path / "last.py").write_text(SCRIPT)

    ended = check_limited(str(tmp_path), seconds=60)

    assert ended.status == 1, ended.output
    assert "last.py:2:1: error[DST101]" in ended.output
    assert "internal error" not in ended.output
    assert ended.output.count("DST000") == len(KINDS) - len(HARMLESS), ended.output
    assert ended.megabytes - plain.megabytes < 2 * MEMORY


@pytest.mark.campaign
def test_files_at_the_limits_in_one_process_with_a_small_stack(tmp_path: Path) -> None:
    for kind, size in AT_THE_LIMIT.items():
        (tmp_path / f"{kind}.py").write_text(SCRIPT + KINDS[kind](size))

    ended = check_limited(str(tmp_path), seconds=60, stack=MEGABYTE)

    assert ended.status == 1, ended.output
    assert ended.output.count("DST101") == len(AT_THE_LIMIT), ended.output


def test_a_list_of_150_000_numbers(tmp_path: Path, plain: Ended) -> None:
    path = tmp_path / "numbers.py"
    path.write_text(f"{SCRIPT}x = [{','.join(map(str, range(150_000)))}]\n")

    ended = check_limited(str(path))

    assert "numbers.py:2:1: error[DST101]" in ended.output
    assert ended.seconds - plain.seconds < 3
    assert ended.megabytes - plain.megabytes < MEMORY


def terms(form: str, join: str, number: int) -> str:
    return join.join(form.format(i) for i in range(number))


CONDITIONS = {
    "and of or": lambda n: (
        f"if {terms('(rank == {0} or x{0})', ' and ', n)}:\n    dist.barrier()\n"
    ),
    "or of and": lambda n: (
        f"if {terms('(rank == {0} and x{0})', ' or ', n)}:\n    dist.barrier()\n"
    ),
    "unknowns": lambda n: f"if {terms('(x{0} or y{0})', ' and ', n)}:\n    dist.barrier()\n",
    "abort": lambda n: f"if {terms('(x{0} or y{0})', ' and ', n)}:\n    raise ValueError\n",
    "random": lambda n: (
        f"if {terms('(random.random() < {0} or x{0})', ' and ', n)}:\n    dist.barrier()\n"
    ),
    "while": lambda n: f"while {terms('(rank == {0} or x{0})', ' and ', n)}:\n    dist.barrier()\n",
    "sum": lambda n: f"if {terms('(rank == {0} or x{0})', ' + ', n)}:\n    dist.barrier()\n",
    "calls": lambda n: (
        "def f(a, b):\n    return a or b\n"
        f"if {terms('f(rank == {0}, x{0})', ' and ', n)}:\n    dist.barrier()\n"
    ),
    "f-string": lambda n: f"if f'{terms('{{rank == {0} or x{0}}}', '', n)}':\n    dist.barrier()\n",
    "assignments": lambda n: (
        f"{terms('z{0} = rank == {0} or x{0}', chr(10), n)}\n"
        f"if {terms('z{0}', ' and ', n)}:\n    dist.barrier()\n"
    ),
}


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("and of or", 60),
        *(
            pytest.param(kind, number, marks=pytest.mark.campaign)
            for kind in CONDITIONS
            for number in (25, 120, 900)
        ),
    ],
)
def test_a_condition_of_many_terms_takes_no_more_than_the_budget(
    kind: str, number: int, tmp_path: Path, plain: Ended
) -> None:
    path = tmp_path / "condition.py"
    text = "import random\nimport torch.distributed as dist\nrank = dist.get_rank()\n"
    path.write_text(text + CONDITIONS[kind](number))

    ended = check_limited(str(path))

    assert ended.status in (0, 1), ended.output
    assert "internal error" not in ended.output
    assert ended.seconds - plain.seconds < 6
    assert ended.megabytes - plain.megabytes < MEMORY


@pytest.mark.campaign
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_in_each_size(kind: str, tmp_path: Path, plain: Ended) -> None:
    for size in (500, 3000, 100_000):
        (tmp_path / f"{size}.py").write_text(SCRIPT + KINDS[kind](size))

    ended = check_limited(str(tmp_path))

    assert ended.status in (0, 1), ended.output
    assert "internal error" not in ended.output
    assert ended.seconds - plain.seconds < 8
    assert ended.megabytes - plain.megabytes < 2 * MEMORY
