"""What a user reads: findings in full and on one line, and the lines about the run."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from distlint.output import summary
from distlint.output.formats import concise, full
from distlint.output.style import Coloured, Plain, broken, printer, width_of, wrapped
from distlint.output.table import Row, table
from distlint.source.finding import Fix, Lane, Place, Related, Severity, Span, Step
from distlint.source.report import Frame, Notice, Reported
from tests.output.conftest import SOURCE, Stream, report, reported


def alone(item: Reported) -> Reported:
    """The finding without other places and words."""
    return replace(item, finding=replace(item.finding, related=(), explanation=None, fix=None))


def in_full(item: Reported, width: int = 100, encoding: str = "utf-8") -> str:
    stream = Stream(encoding)
    full.render(item, Plain(stream), width)
    return stream.getvalue()


def test_the_whole_story(path: Path) -> None:
    path.with_name("utils.py").write_text("\n" * 11 + "dist.barrier()\n")
    path.write_text(SOURCE)
    assert in_full(reported(path), 80) == (
        """\
error[DST101]: `all_reduce` on rank 0 only [!]
  --> train.py:4:4
   |
 1 | import torch.distributed as dist
   | --- written on some ranks only
...
 4 | if dist.get_rank() == 0:
   |    ^^^^^^^^^^^^^^^^^^^^ true on rank 0, false on the other ranks
 5 |     dist.all_reduce(loss)
   | --- rank 0 waits here
   |
  ::: utils.py:12:1
   |
12 | dist.barrier()
   | --- ranks 1-3 wait here
   |
   = note: last matching collective: init (line 3)
   = help: Call the collective on all ranks and keep only the use of its result
           under the test, or move it out of the branch.
   = fix: Hoist the call (unsafe)

"""
    )


def test_it_is_whole_on_a_narrow_terminal(path: Path) -> None:
    path.write_text(SOURCE)
    assert in_full(reported(path), 44) == (
        """\
error[DST101]: `all_reduce` on rank 0 only
               [!]
  --> train.py:4:4
   |
 1 | import torch.distributed as dist
   | --- written on some ranks only
...
 4 | if dist.get_rank() == 0:
   |    ^^^^^^^^^^^^^^^^^^^^
   | true on rank 0, false on the other
   | ranks
 5 |     dist.all_reduce(loss)
   | --- rank 0 waits here
   |
  ::: utils.py:12:1
   = ranks 1-3 wait here
   = note: last matching collective: init
           (line 3)
   = help: Call the collective on all ranks
           and keep only the use of its
           result under the test, or move it
           out of the branch.
   = fix: Hoist the call (unsafe)

"""
    )


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_it_fits_the_terminal(path: Path, width: int) -> None:
    path.write_text(SOURCE)
    text = in_full(reported(path), width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "utils.py:12" in words
    assert "move it out of the branch" in words.replace("move it = ", "")


def test_a_finding_without_other_places_shows_what_is_around_it(path: Path) -> None:
    item = reported(path)
    finding = replace(item.finding, related=(), explanation=None, fix=None)
    assert in_full(replace(item, finding=finding)) == (
        """\
error[DST101]: `all_reduce` on rank 0 only
 --> train.py:4:4
  |
2 |
3 | dist.init_process_group()
4 | if dist.get_rank() == 0:
  |    ^^^^^^^^^^^^^^^^^^^^
5 |     dist.all_reduce(loss)
6 | print("done")
  |

"""
    )


def test_two_places_in_one_row_have_a_line_each(path: Path) -> None:
    item = reported(path)
    one = Related("first", Place(path, Span(4, 9, 4, 17)))
    finding = replace(item.finding, related=(one,), explanation=None)
    rows = in_full(replace(item, finding=finding)).splitlines()
    assert rows[3:6] == [
        "4 | if dist.get_rank() == 0:",
        "  |         -------- first",
        "  |    ^^^^^^^^^^^^^^^^^^^^",
    ]


def test_two_sides_that_wait_in_one_call_are_all_ranks(path: Path) -> None:
    item = reported(path)
    explanation = item.finding.explanation
    assert explanation is not None
    step = Step("all_reduce: dist.all_reduce(loss)", Place(path, Span(5, 5, 5, 26)), True)
    both = replace(explanation, lanes=(Lane("rank 0", (step,)), Lane("rank 1", (step,))))
    text = in_full(replace(item, finding=replace(item.finding, explanation=both)))
    assert "--------------------- all ranks wait here\n" in text


def test_a_long_fix_is_not_shown(path: Path) -> None:
    item = reported(path)
    short = tuple(f"+line {number}\n" for number in range(6))
    assert "line 5" in in_full(replace(item, proposed=("@@ -1 +1 @@", *short)))
    text = in_full(replace(item, proposed=("@@ -1 +1 @@", *short, "+line 6\n")))
    assert "line 5" not in text
    assert (
        "= fix: Hoist the call (unsafe); `distlint fix --diff --unsafe-fixes` shows it"
        in " ".join(text.split())
    )


def test_what_was_tried_is_not_called_fixable(path: Path) -> None:
    left = report(reported(path))
    assert "1 fixable" in summary.fixable(left, unsafe=True)
    assert summary.fixable(left, unsafe=True, tried=True) == ""
    assert "--unsafe-fixes" in summary.fixable(left, unsafe=False, tried=True)


def test_a_local_condition_with_one_outcome_is_assumed(path: Path) -> None:
    item = reported(path)
    explanation = item.finding.explanation
    assert explanation is not None
    decision = replace(explanation.decisions[0], outcome="true", kind="rank-local value")
    explanation = replace(explanation, decisions=(decision,))
    text = in_full(replace(item, finding=replace(item.finding, explanation=explanation)))
    assert "^ assumed true on all ranks" in text


@pytest.mark.parametrize(
    ("applicability", "unsafe", "mark"),
    [
        ("safe", False, " [*]"),
        ("unsafe", False, " [!]"),
        ("unsafe", True, " [*]"),
        ("displayonly", True, ""),
    ],
)
def test_a_mark_says_that_a_finding_can_be_fixed(
    path: Path, applicability: Literal["safe", "unsafe", "displayonly"], unsafe: bool, mark: str
) -> None:
    item = reported(path)
    fix = Fix(applicability, "Do it", ())
    stream = io.StringIO()
    fixable = replace(item, finding=replace(item.finding, fix=fix))
    concise.render(fixable, Plain(stream), unsafe=unsafe)
    assert stream.getvalue() == (f"train.py:4:4: error[DST101] `all_reduce` on rank 0 only{mark}\n")


def test_a_long_line_of_source_is_cut_around_the_place(path: Path) -> None:
    item = reported(path)
    line = "x = [" + "1, " * 300 + "BUG" + ", 2" * 300 + "]"
    column = line.index("BUG") + 1
    finding = replace(alone(item).finding, place=Place(path, Span(1, column, 1, column + 3)))
    rows = in_full(replace(item, finding=finding, frame=Frame(1, (line,))), 60).splitlines()[3:5]
    assert len(rows[0]) <= 60
    assert rows[0][rows[1].index("^") : rows[1].rindex("^") + 1] == "BUG"


@pytest.mark.parametrize(
    ("line", "start", "end", "shown", "marks"),
    [
        ("\tx = f(y)", 6, 10, "    x = f(y)", "        ^^^^"),
        ("模型 = f(y)", 6, 10, "模型 = f(y)", "       ^^^^"),
        ("e\u0301 = f(y)", 6, 10, "e\u0301 = f(y)", "    ^^^^"),
        ("x = '\x1b[2J'; f(y)", 13, 17, "x = '?[2J'; f(y)", "            ^^^^"),
        ("x = 1", 40, 41, "x = 1", "     ^"),
    ],
)
def test_the_marks_stand_below_the_place(
    path: Path, line: str, start: int, end: int, shown: str, marks: str
) -> None:
    item = reported(path)
    finding = replace(alone(item).finding, place=Place(path, Span(1, start, 1, end)))
    rows = in_full(replace(item, finding=finding, frame=Frame(1, (line,)))).splitlines()
    assert rows[3] == f"1 | {shown}"
    assert rows[4] == f"  | {marks}"


def test_a_place_of_several_rows(path: Path) -> None:
    item = reported(path)
    finding = replace(alone(item).finding, place=Place(path, Span(1, 4, 3, 2)))
    frame = Frame(1, ("if f(", "    x,", "):"))
    rows = in_full(replace(item, finding=finding, frame=frame)).splitlines()[2:10]
    assert rows == [
        "  |",
        "1 | if f(",
        "  |    ^^",
        "2 |     x,",
        "  |     ^^",
        "3 | ):",
        "  | ^",
        "  |",
    ]


def test_a_name_with_a_newline_stays_on_its_line(path: Path) -> None:
    item = reported(path.with_name("two\nlines.py"))
    stream = io.StringIO()
    concise.render(item, Plain(stream))
    assert stream.getvalue().startswith("two\\nlines.py:4:4: error")
    assert stream.getvalue().count("\n") == 1


def test_a_stream_that_knows_only_ascii(path: Path) -> None:
    item = reported(path)
    finding = replace(item.finding, message="größe 模")
    text = in_full(replace(item, finding=finding, frame=Frame(4, ("x = 'ü'",))), encoding="ascii")
    assert "gr\\xf6\\xdfe \\u6a21" in text


def test_colours_are_for_terminals(path: Path) -> None:
    stream = io.StringIO()
    out = printer(stream, color=True)
    assert isinstance(out, Coloured)
    full.render(reported(path), out, 100)
    assert "\x1b[1;31merror[DST101]\x1b[0m" in stream.getvalue()
    assert isinstance(printer(stream, color=False), Plain)


def test_colours_change_no_character(path: Path) -> None:
    import re

    stream = io.StringIO()
    full.render(reported(path), Coloured(stream), 80)
    assert re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue()) == in_full(reported(path), 80)


@pytest.mark.parametrize(
    ("severities", "checked", "line"),
    [
        ([], 3, "No findings (checked 3 files)."),
        ([], 0, "No files were checked."),
        ([Severity.ERROR], 1, "Found 1 error in 1 file (checked 1 file)."),
        (
            [Severity.INFO, Severity.WARNING, Severity.ERROR, Severity.ERROR],
            1234,
            "Found 2 errors, 1 warning, 1 info in 1 file (checked 1,234 files).",
        ),
        ([Severity.INFO] * 2, 2, "Found 2 info in 1 file (checked 2 files)."),
    ],
)
def test_the_last_line(path: Path, severities: list[Severity], checked: int, line: str) -> None:
    item = reported(path)
    items = [replace(item, finding=replace(item.finding, severity=s)) for s in severities]
    assert summary.closing(report(*items, checked=checked)) == line


def test_statistics(path: Path) -> None:
    item = reported(path)
    other = replace(item, finding=replace(item.finding, code="DST102", name="unsynced-break"))
    stream = io.StringIO()
    summary.statistics(report(item, other, other), Plain(stream))
    assert stream.getvalue() == (
        "2  DST102  unsynced-break\n"
        "1  DST101  collective-in-rank-branch\n"
        "\n"
        "3 files checked, 1 skipped\n"
        "1,500 entry points analysed, 4 over budget\n"
        "2 findings suppressed by comments\n"
    )


def test_notices(path: Path) -> None:
    notices = (
        Notice("failed", "internal error: boom", path, "Traceback\n  line"),
        Notice("skipped", "larger than max-file-size", path.with_name("a\nb.py")),
        Notice("warning", "DST201 is not there"),
        Notice("nothing", "nothing to check", path),
    )
    stream = io.StringIO()
    summary.notices(notices, Plain(stream), verbose=False)
    assert stream.getvalue() == (
        "error: train.py: internal error: boom\n"
        "skipped: a\\nb.py: larger than max-file-size\n"
        "warning: DST201 is not there\n"
        "train.py: nothing to check\n"
    )
    stream = io.StringIO()
    summary.notices(notices[:1], Plain(stream), verbose=True)
    assert stream.getvalue().splitlines()[1:] == ["  Traceback", "    line"]


def test_wrapping_keeps_long_words_whole() -> None:
    assert wrapped("a bb ccc", 4) == ["a bb", "ccc"]
    assert wrapped("a" * 9, 4) == ["a" * 9]
    assert wrapped("模型 模型", 5) == ["模型", "模型"]
    assert wrapped("", 4) == [""]


def test_a_path_is_cut_after_slashes() -> None:
    path = "applications/chat/training/run_it.sh:42:8"
    assert list(broken(path, 41)) == [path]
    assert list(broken(path, 26)) == ["applications/chat/", "training/run_it.sh:42:8"]
    assert list(broken(path, 14)) == ["applications/", "chat/training/", "run_it.sh:42:8"]
    assert list(broken("C:\\code\\train.py:1:1", 12)) == ["C:\\code\\", "train.py:1:1"]


def test_words_that_are_longer_are_cut_where_asked_for() -> None:
    assert wrapped("Use `torch.amp.GradScaler`", 12, cut=True) == [
        "Use",
        "`torch.amp.",
        "GradScaler`",
    ]
    assert wrapped('int(os.environ["A"])', 15, cut=True) == ["int(os.environ[", '"A"])']
    assert wrapped("torch.nn", 20, cut=True) == ["torch.nn"]
    assert wrapped("a" * 9, 4, cut=True) == ["a" * 9]
    assert wrapped("train.", 5, cut=True) == ["train."]
    assert wrapped("模型.模型", 5, cut=True) == ["模型.", "模型"]


def test_a_place_keeps_its_distance_from_a_long_word() -> None:
    word = "self.should_save_checkpoint_on_current_rank"
    (line,) = table([Row("because", word, "trainer.py:449")], width=60)
    text = "".join(part if isinstance(part, str) else part[0] for part in line)
    assert text.endswith(f"{word}  trainer.py:449")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("line", ["\tx = [" + "1, " * 90 + "]", "模型 = " + "数" * 90, "x" * 300])
def test_no_line_is_wider_than_the_terminal(path: Path, line: str, width: int) -> None:
    path.write_text(f"{line}\n" * 12, encoding="utf-8")
    item = reported(path)
    proposed = ("@@ -4 +4 @@", f"-{line}\n", f"+{line}\n")
    text = in_full(replace(item, frame=None, proposed=proposed), width)
    assert max(map(width_of, text.splitlines())) <= width
    assert "..." in text
