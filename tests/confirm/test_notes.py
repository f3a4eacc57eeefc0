"""The comments of a script name the lines that they stand for, with what stands there."""

from __future__ import annotations

import pytest

from tests.confirm.scripts import written

START = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
"""
BARRIER = "if rank == 0:\n    dist.barrier()\n"
NOTED = {"line 8: if rank == 0", "line 9: dist.barrier()"}


def notes(source: str) -> set[str]:
    (found,) = written(source)
    assert found.script is not None, found.reason
    lines = found.script.source.splitlines()
    return {note for line in lines for _, mark, note in [line.partition("  # ")] if mark}


@pytest.mark.parametrize(
    "line",
    [
        "\x0c\n",
        "\x0cy = 1\n",
        "y = 'a\x0bb\x0cc'\n",
        "# a\x1cb\x1dc\x1ed\x85e\n",
        "y = 'a\u2028b\u2029c'\n",
        "y = '日本語 🎉'  # ö\n",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_are_counted_as_python_counts_them(line: str, end: str) -> None:
    assert notes((START + line + BARRIER).replace("\n", end)) == NOTED


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("if (\n    # on ) one\n    rank == 0  # ' and\n    and x\n):\n", "if (rank == 0 and x)"),
        ("if rank == \\\n    0:\n", "if rank == 0"),
        ("if (rank == 0):\n", "if (rank == 0)"),
        ("if rank == 0 and f\"{'a'}#{x!r:>{10}}\":\n", "if rank == 0 and f\"{'a'}#{x!r:>{10}}\""),
        ('if rank == 0 and """a #\n  b""":\n', 'if rank == 0 and """a # b"""'),
        ("match rank:\n  case 0:\n", "case 0"),
        ("match rank:\n  case r if r == 0:\n", "case r if r == 0"),
    ],
)
def test_conditions_are_shown_without_what_is_no_code(code: str, noted: str) -> None:
    row = 8 if code.startswith("match") else 7
    assert f"line {row}: {noted}" in notes(f"{START}{code}    dist.barrier()\n")


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("call(lambda: dist.barrier())", "dist.barrier()"),
        ("print([dist.barrier()])", "dist.barrier()"),
        ("print((dist.barrier()))", "dist.barrier()"),
        ("dist.all_reduce(\n        x,  # all\n    )", "dist.all_reduce(x,)"),
        ('dist.all_reduce(x, ")")', 'dist.all_reduce(x, ")")'),
    ],
)
def test_calls_have_the_brackets_that_they_open(code: str, noted: str) -> None:
    source = f"{START}def call(f):\n    f()\nif rank == 0:\n    {code}\n"
    assert f"line 10: {noted}" in notes(source)
