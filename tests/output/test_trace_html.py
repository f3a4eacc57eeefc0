"""The page of a trace: lanes, bars, the divergence, and the source beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest

from distlint.output.trace_html import CONTEXT, render
from distlint.source.finding import Decision, Step
from distlint.source.incomplete import Reason
from distlint.source.trace import Trace
from tests.output.browser import opened, parsed, stands_alone
from tests.output.conftest import place


@pytest.fixture
def trace(path: Path) -> Trace:
    """Four lanes: all, two that are no neighbours, and then they part."""
    lines = [f"line_{row} = 'text'  # {row}" for row in range(1, 101)]
    path.write_text("\n".join(lines) + "\n")

    def step(text: str, row: int) -> Step:
        return Step(text, place(path, row))

    start, some = step("init_process_group()", 3), step("all_reduce(x, group=g)", 40)
    return Trace(
        path=path,
        function="train",
        lanes=("rank 0", "rank 1", "rank 2", "rank 3"),
        rows=(
            (start, start, start, start),
            (some, None, some, None),
            (step("barrier()", 50), step("barrier()", 60), Step("ends"), step("a < b & c", 60)),
        ),
        divergence=2,
        decisions=(
            Decision("rank == 0", "rank 0: true, others: false", "rank predicate", place(path, 48)),
            Decision("assumed", "so", "assumed"),
        ),
        effect="rank 0 waits in `barrier`",
    )


def by_class(page: str, name: str) -> list[Element]:
    return [each for each in parsed(page).iter() if name in each.get("class", "").split()]


def said(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def columns(element: Element) -> str:
    return element.get("style", "").removeprefix("grid-column: ")


def test_bars_span_the_lanes_that_meet(trace: Trace) -> None:
    page = render([trace])
    assert stands_alone(page)
    heads, *rows = by_class(page, "row")
    assert [said(each) for each in heads] == ["rank 0", "rank 1", "rank 2", "rank 3"]
    everyone, some, _ = rows
    wire, bar = list(everyone)
    assert columns(wire) == columns(bar) == "1 / 5"
    assert said(bar) == "rank 0, rank 1, rank 2, rank 3: init_process_group() line 3"
    assert [columns(each) for each in some] == ["1 / 4", "1 / 2", "3 / 4"]


def test_where_they_diverge(trace: Trace) -> None:
    page = render([trace])
    (stuck,) = by_class(page, "stuck")
    assert [said(box) for box in stuck] == [
        "rank 0: barrier() waits here, line 50",
        "rank 1: barrier() waits here, line 60",
        "rank 2: ends",
        "rank 3: a < b & c waits here, line 60",
    ]
    first, second = by_class(page, "why")
    assert said(first).endswith("rank == 0rank 0: true, others: false [rank predicate] line 48")
    assert (first.tag, second.tag) == ("a", "span")
    (effect,) = by_class(page, "effect")
    assert said(effect) == "rank 0 waits in barrier"
    assert [said(each) for each in by_class(page, "verdict")] == ["ranks diverge"]


def test_every_bar_leads_to_its_line(trace: Trace) -> None:
    page = render([trace])
    targets = {each.get("id"): each for each in by_class(page, "line")}
    assert len(targets) == 100
    links = [each.get("href", "")[1:] for each in (*by_class(page, "box"), *by_class(page, "why"))]
    assert {said(targets[link]).split()[0] for link in links if link} == {
        f"{row}line_{row}" for row in (3, 40, 48, 50, 60)
    }
    kinds = {row: targets[f"f0-{row}"].get("class") for row in (3, 40, 48, 50, 60, 70)}
    assert kinds == {
        3: "line step",
        40: "line step",
        48: "line why-line",
        50: "line diverged",
        60: "line diverged",
        70: "line",
    }
    assert said(targets["f0-60"]).endswith("rank 1; rank 3")


def test_lines_that_nobody_comes_by_are_folded(trace: Trace) -> None:
    page = render([trace])
    folded = [said(each) for each in parsed(page).iter("summary")]
    assert folded == [f"lines {3 + CONTEXT + 1} to {40 - CONTEXT - 1}", "lines 67 to 100"]


def test_source_is_coloured_and_stays_text(trace: Trace) -> None:
    trace.path.write_text("if x: '''</script>\n<b>'''  # <i>\n\tbroken = (")
    page = render([trace])
    strings = [each.text for each in by_class(page, "string")]
    assert strings == ["'''</script>", "<b>'''"]
    assert [each.text for each in by_class(page, "comment")] == ["# <i>"]
    assert [each.text for each in by_class(page, "keyword")] == ["if"]


def test_aligned_and_incomplete(trace: Trace) -> None:
    aligned = replace(trace, rows=trace.rows[:2], divergence=None, decisions=(), effect="")
    page = render([replace(aligned, incomplete=(Reason.BUDGET,), function=None)])
    assert "all ranks issue the same collectives" in page
    assert "The analysis is incomplete: too many execution paths" in page
    assert not by_class(page, "stuck")


def test_several_entry_points_and_files(trace: Trace, path: Path) -> None:
    other = path.with_name("other.py")
    other.write_text("x = 1\n")
    step = Step("barrier()", place(other, 1))
    second = Trace(path, "second", ("every rank",), ((step,),), None)
    page = render([trace, second])
    assert len(by_class(page, "trace")) == 2
    assert [said(each) for each in by_class(page, "sources")[0].iter("h2")] == [
        "train.py",
        "other.py",
    ]
    assert "other.py:1" in page


def test_nothing_to_trace() -> None:
    assert "No collectives to trace." in render([])
    parsed(render([]))


def test_a_file_that_is_gone(trace: Trace) -> None:
    trace.path.unlink()
    assert not by_class(render([trace]), "line")


def test_a_browser_opens_it(trace: Trace) -> None:
    """With the keyboard alone: all that can be pressed is a link, a fold or a scrolled region."""
    file = trace.path.with_name("trace.html")
    file.write_text(render([trace]))
    page = opened(file)
    assert "divergence" in page
    assert "<script" not in page
