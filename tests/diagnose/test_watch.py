"""The tables of the collective watch in a log, as the watch writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.runtime.collective_watch.report import Now, RankReport
from distlint.runtime.collective_watch.sites import Site
from distlint.runtime.collective_watch.table import KnownFinding, table
from tests.diagnose.conftest import Logs
from tests.diagnose.test_formats import TRACE
from tests.diagnose.test_verdict import by
from tests.runtime.test_watch_diagnosis import (
    AFTER,
    KILLED,
    OTHER,
    STEP,
    call,
    diagnose,
    inside,
    report,
)

HERE = Now("out", 6.0, "", 0, (), Site("/train.py", 30, "evaluate"))
FINDING = KnownFinding("DST117", "rank-local-skip", "skips it", "/train.py", 8)


def written(*reports: RankReport, findings: tuple[KnownFinding, ...] = ()) -> str:
    found = diagnose(reports)
    assert found is not None
    return table(found, reports, findings, rank=0) + "\n"


MISMATCH = written(
    *(report(r, OTHER if r == 2 else STEP, ranks=(0, 1, 2), now=inside(1)) for r in range(3))
)
STALL = written(report(0, STEP, STEP, stuck="0", now=inside(2)), report(1, STEP, now=HERE))
LEFT = written(
    report(0, STEP, STEP, stuck="0", now=inside(2)),
    report(1, STEP, left="raised KeyError: 'labels' at train.py:12 in main"),
)


@pytest.mark.parametrize(
    "prefix", ["", "[rank0]: ", "[default0]:", "0: ", "[1,0]<stderr>: ", "2026-11-22T04:50:11Z "]
)
def test_the_table_is_the_answer(prefix: str, logs: Logs) -> None:
    text = "step 1\n" + "".join(f"{prefix}{line}\n" for line in MISMATCH.splitlines())
    found = logs.read(text + "^Cdistlint: interrupted; all processes have ended\n")
    cause = found.cause
    assert cause is not None
    assert cause.title.startswith(
        "reported by the watch: different operations: rank 0 backward(SUM)"
    )
    assert (cause.id, cause.ranks, cause.sure, found.level) == ("watch", (2,), True, "error")
    assert cause.quotes[0].line == 2
    assert found.size == 3
    waiting = {each.ranks: each for each in found.waiting}
    assert waiting[0, 1].place is not None
    assert (waiting[0, 1].place.file, waiting[0, 1].place.line) == ("/train.py", 3)
    assert waiting[2,].what == "`all_gather(SUM) float32[4]` (call 1)"
    assert [each.title for each in found.consequences] == [
        "the job was stopped by SIGINT: Ctrl-C was pressed"
    ]


def test_a_rank_that_is_late_is_named_with_its_line(logs: Logs) -> None:
    found = logs.read(STALL)
    assert found.cause is not None
    assert found.cause.ranks == (1,)
    assert not found.cause.sure, "it may have come later"
    (doing,) = found.doing
    assert doing.place is not None
    assert (doing.place.file, doing.place.line, doing.place.function) == (
        "/train.py",
        30,
        "evaluate",
    )


def test_an_error_named_in_the_table_is_the_cause(logs: Logs) -> None:
    found = logs.read(LEFT + by(1, TRACE))
    assert found.cause is not None
    assert (found.cause.id, found.cause.ranks) == ("KeyError", (1,))
    alone = logs.read(LEFT).cause
    assert alone is not None
    assert alone.id == "watch"


def test_errors_that_follow_from_a_mismatch_are_not(logs: Logs) -> None:
    sizes = (
        "RuntimeError: [enforce fail] Received data size doesn't match expected size. Is there a "
    )
    sizes += "distributed collective mismatch in your code?"
    raised = "distlint.runtime.collective_watch.errors.CollectiveMismatch: [rank 1] at train.py:12"
    for error in (sizes, raised):
        cause = logs.read(MISMATCH + by(0, TRACE.replace("KeyError: 'labels'", error))).cause
        assert cause is not None
        assert cause.id == "watch"


def test_a_stall_long_before_an_error_is_not_its_cause(logs: Logs) -> None:
    cause = logs.read(STALL + by(0, "step 9000") + by(0, TRACE)).cause
    assert cause is not None
    assert cause.id == "KeyError"


def test_the_table_of_a_difference_counts_more_than_those_of_stalls(logs: Logs) -> None:
    cause = logs.read(STALL + MISMATCH + STALL).cause
    assert cause is not None
    assert "different operations" in cause.title


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (written(report(0, OTHER), report(1, STEP), findings=(FINDING,)), ("DST117",)),
        (written(report(0, STEP, STEP), report(1, STEP, AFTER)), ("DST113",)),
        (
            written(
                report(0, STEP, STEP, stuck="0", now=inside(2)),
                report(1, STEP, left=KILLED, partial=True),
            ),
            ("DST101", "DST102", "DST103", "DST104", "DST105", "DST109", "DST113"),
        ),
    ],
    ids=["finding", "hint", "neither"],
)
def test_its_rules_are_named(text: str, rules: tuple[str, ...], logs: Logs) -> None:
    cause = logs.read(text).cause
    assert cause is not None
    assert cause.rules == rules


def test_tables_of_version_0_1_0_that_each_rank_has_printed(logs: Logs) -> None:
    one = STALL.replace("did not reach call", "did not come to call")
    one = one.replace("has not reached it", "has not come to it").replace("6.0 s", "5.2 s")
    found = logs.read(one + one.replace("seen by rank 0", "seen by rank 1"))
    assert found.cause is not None
    assert found.cause.ranks == (1,)


def test_a_table_that_breaks_off(logs: Logs) -> None:
    found = logs.read("\n".join(MISMATCH.splitlines()[:4]))
    assert found.cause is not None
    assert "different operations" in found.cause.title
    assert logs.read("== distlint watch, seen by rank x: nothing\n").cause is None


def test_a_line_of_the_table_marks_a_finding(logs: Logs, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch.distributed as dist\ndist.init_process_group()\n"
        "if dist.get_rank() == 0:\n    dist.barrier()\n"
    )
    text = written(
        report(0, call(op="barrier", line=4), stuck="0", now=inside(1)), report(1, now=HERE)
    )
    answer = logs.answer(logs.write("job.log", text), script=script)
    assert answer.checked is not None
    assert [(finding.code, at) for finding, at in answer.checked.findings] == [("DST101", True)]
