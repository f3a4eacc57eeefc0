"""Traces: columns side by side, blocks where there is no room, and JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from distlint.output.style import Plain
from distlint.output.trace import render, render_json
from distlint.source.finding import Decision, Step
from distlint.source.incomplete import Reason
from distlint.source.trace import Trace
from tests.output.conftest import Stream, place


def example(path: Path) -> Trace:
    start = Step("init_process_group()", place(path, 3))
    return Trace(
        path=path,
        function="train",
        lanes=("rank 0", "ranks 1-3"),
        rows=(
            (start, start),
            (Step("all_reduce(loss)", place(path, 5)), Step("barrier()", place(path, 9))),
            (Step("barrier()", place(path, 9)), None),
        ),
        divergence=1,
        decisions=(
            Decision("rank == 0", "rank 0: true, others: false", "rank predicate", place(path, 4)),
        ),
        effect="rank 0 waits in all_reduce, the others in barrier",
    )


def shown(trace: Trace, width: int = 64, encoding: str = "ascii") -> str:
    stream = Stream(encoding)
    render(trace, Plain(stream), width)
    return stream.getvalue()


def test_side_by_side(path: Path) -> None:
    assert shown(example(path)) == (
        """\
train.py::train: ranks diverge

  rank 0                          ranks 1-3
  -----------------------------   -----------------------------
  init_process_group()   line 3   init_process_group()   line 3
  x divergence ------------------------------------------------
  all_reduce(loss)       line 5   barrier()              line 9
  barrier()              line 9

  diverges at  rank == 0             line 4
                 rank 0: true, others: false [rank predicate]
  effect       rank 0 waits in all_reduce, the others in barrier

"""
    )


def test_below_each_other_where_columns_do_not_fit(path: Path) -> None:
    lines = shown(example(path), 40).splitlines()
    assert lines[2].strip() == "rank 0"
    assert lines[4].strip().startswith("x all_reduce(loss)")
    assert "  ranks 1-3" in lines


def test_better_characters_where_the_stream_has_them(path: Path) -> None:
    assert "\N{MULTIPLICATION X} divergence \N{BOX DRAWINGS LIGHT HORIZONTAL}" in shown(
        example(path), encoding="utf-8"
    )


def test_aligned(path: Path) -> None:
    trace = replace(example(path), function=None, divergence=None, decisions=(), effect="")
    text = shown(replace(trace, incomplete=(Reason.BUDGET,)))
    assert text.startswith("train.py: all ranks issue the same collectives\n")
    assert "they part here" not in text
    assert "the analysis is incomplete: too many execution paths" in " ".join(text.split())


@pytest.mark.parametrize("lanes", [0, 1, 4])
def test_any_number_of_lanes(path: Path, lanes: int) -> None:
    step = Step("barrier()", place(path, 1))
    names = tuple(f"rank {rank}" for rank in range(lanes))
    trace = Trace(path, None, names, ((step,) * lanes,), None)
    stream = io.StringIO()
    render(trace, Plain(stream), 140)
    assert stream.getvalue().count("barrier()") == lanes


def test_json(path: Path) -> None:
    (found,) = json.loads(render_json([example(path)]))
    first = {"filename": str(path), "location": {"column": 1, "row": 3}}
    assert found == {
        "aligned": False,
        "complete": True,
        "decisions": [
            {
                "filename": str(path),
                "kind": "rank predicate",
                "location": {"column": 1, "row": 4},
                "outcome": "rank 0: true, others: false",
                "text": "rank == 0",
            }
        ],
        "effect": "rank 0 waits in all_reduce, the others in barrier",
        "filename": str(path),
        "function": "train",
        "incomplete": [],
        "divergence": 1,
        "ranks": ["rank 0", "ranks 1-3"],
        "rows": [
            [{"text": "init_process_group()", **first}] * 2,
            [
                {
                    "filename": str(path),
                    "location": {"column": 1, "row": 5},
                    "text": "all_reduce(loss)",
                },
                {"filename": str(path), "location": {"column": 1, "row": 9}, "text": "barrier()"},
            ],
            [
                {"filename": str(path), "location": {"column": 1, "row": 9}, "text": "barrier()"},
                None,
            ],
        ],
    }


def test_json_says_why_an_analysis_is_incomplete(path: Path) -> None:
    trace = replace(example(path), incomplete=(Reason.BUDGET, Reason.CALLS))
    (found,) = json.loads(render_json([trace]))
    assert not found["complete"]
    assert [each["reason"] for each in found["incomplete"]] == ["budget", "calls"]
    assert "too many execution paths" in found["incomplete"][0]["message"]


def test_rows_that_repeat_are_one(path: Path) -> None:
    step = Step("loss.backward()", place(path, 7))
    other = Step("all_reduce(loss)", place(path, 9))
    rows = ((step, step), (step, step), (step, step), (other, other))
    trace = Trace(path, None, ("rank 0", "rank 1"), rows, None)
    text = shown(trace)
    assert text.count("loss.backward()") == 2
    assert text.count("loss.backward() x3") == 2
    assert "all_reduce(loss) x" not in text
