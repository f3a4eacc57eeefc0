"""A report like those of the engine, and streams to write it to."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from distlint.source.finding import (
    Decision,
    Edit,
    Explanation,
    Finding,
    Fix,
    Lane,
    Place,
    Related,
    Severity,
    Span,
    Step,
)
from distlint.source.report import Frame, Notice, Report, Reported

SOURCE = """\
import torch.distributed as dist

dist.init_process_group()
if dist.get_rank() == 0:
    dist.all_reduce(loss)
print("done")
"""


def place(path: Path, row: int, column: int = 1, length: int = 3) -> Place:
    return Place(path, Span(row, column, row, column + length))


def reported(path: Path) -> Reported:
    explanation = Explanation(
        common=Step("init: dist.init_process_group()", place(path, 3), True),
        lanes=(
            Lane("rank 0", (Step("all_reduce: dist.all_reduce(loss)", place(path, 5), True),)),
            Lane(
                "ranks 1-3",
                (Step("barrier: dist.barrier()", place(path.with_name("utils.py"), 12), True),),
            ),
        ),
        decisions=(
            Decision(
                "dist.get_rank() == 0",
                "true on rank 0, false on the other ranks",
                "rank predicate",
                place(path, 4, 4, 20),
            ),
        ),
        effect="rank 0 waits in all_reduce until the timeout",
        help="Call the collective on all ranks and keep only the use of its result under the "
        "test, or move it out of the branch.",
    )
    finding = Finding(
        code="DST101",
        name="collective-in-rank-branch",
        message="`all_reduce` on rank 0 only",
        severity=Severity.ERROR,
        place=Place(path, Span(4, 4, 4, 24)),
        related=(
            Related("all_reduce on rank 0", place(path, 5)),
            Related("written on some ranks only", place(path, 1)),
        ),
        explanation=explanation,
        fix=Fix("unsafe", "Hoist the call", (Edit(Span(5, 1, 6, 1), "x\n"),)),
    )
    return Reported(finding, Frame(2, tuple(SOURCE.splitlines()[1:6])), 4, fails=True)


def report(*items: Reported, notices: tuple[Notice, ...] = (), checked: int = 3) -> Report:
    return Report(
        reported=items,
        notices=notices,
        checked=checked,
        skipped=1,
        suppressed=2,
        over_budget=4,
        roots=1500,
    )


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "train.py"


class Stream(io.StringIO):
    """Text in an encoding of its own."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def write(self, text: str) -> int:
        text.encode(self._encoding)
        return super().write(text)
