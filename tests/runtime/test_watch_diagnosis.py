"""From reports to a diagnosis and a table: no processes, no torch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from distlint.runtime.collective_watch.calls import Call, words
from distlint.runtime.collective_watch.diagnosis import Diagnosis, diagnose
from distlint.runtime.collective_watch.hints import RULES, hints
from distlint.runtime.collective_watch.report import (
    GroupCalls,
    Now,
    RankReport,
    from_json,
    to_json,
)
from distlint.runtime.collective_watch.sites import Site
from distlint.runtime.collective_watch.table import KnownFinding, table

WORLD = (0, 1)
KILLED = "was killed (process 7 no longer exists)"


def call(op: str = "all_reduce", line: int = 1, passed: str = "t", **more: str) -> Call:
    site = Site("/train.py", line, "step")
    found = Call(op, "SUM", "", "float32", "[4]", "", site, None, (passed,))
    return found._replace(**more)  # type: ignore[arg-type]


def report(rank: int, *calls: Call, ranks: tuple[int, ...] = WORLD, **more: object) -> RankReport:
    found = RankReport(rank, groups={"0": GroupCalls("0", ranks, len(calls), calls)})
    return replace(found, **more)  # type: ignore[arg-type]


def inside(seq: int, group: str = "0") -> Now:
    return Now("in", 6.0, group, seq, (), None)


def certain(diagnosis: Diagnosis | None) -> Diagnosis:
    assert diagnosis is not None
    assert diagnosis.certain
    return diagnosis


def test_ranks_that_agree_have_no_difference() -> None:
    assert diagnose([report(0, call(), call()), report(1, call(), call())]) is None


def test_another_line_is_no_difference() -> None:
    assert diagnose([report(0, call(line=3)), report(1, call(line=9))]) is None


def test_a_snapshot_taken_later_is_no_difference() -> None:
    ahead = report(0, call(), call(), now=inside(2))
    assert diagnose([ahead, report(1, call())]) is None


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("reduce", "MAX", "the reduce op of all_reduce differs"),
        ("dtype", "int64", "the dtype of all_reduce differs"),
        ("shape", "[5]", "the shape of all_reduce differs"),
        ("op", "barrier", "different operations"),
    ],
)
def test_what_differs_is_named(field: str, value: str, said: str) -> None:
    found = certain(diagnose([report(0, call()), report(1, call(**{field: value}))]))
    assert found.what.startswith(said)
    assert found.seq == 1


def test_a_payload_that_crosses_is_a_swap_and_one_that_only_differs_is_none() -> None:
    a, b, c = (call(passed=name) for name in "abc")
    assert certain(diagnose([report(0, a, b), report(1, b, a)])).kind == "swapped"
    assert diagnose([report(0, a, b), report(1, b, c)]) is None
    assert diagnose([report(0, a, b, a, b), report(1, c, c, c, c)]) is None


def test_payloads_do_not_cross_between_different_calls() -> None:
    """Each rank broadcasts its own in turn: what it passes swaps with the root."""
    one = [call(passed="mine", root="root 0"), call(passed="other", root="root 1")]
    two = [call(passed="other", root="root 0"), call(passed="mine", root="root 1")]
    assert diagnose([report(0, *one), report(1, *two)]) is None


def test_payloads_that_cross_far_apart_are_not_taken_for_a_swap() -> None:
    a, b, same = call(passed="a"), call(passed="b"), [call()] * 20
    assert diagnose([report(0, a, *same, b), report(1, b, *same, a)]) is None


def test_a_skipped_call_is_found_by_what_follows() -> None:
    lines = [call(line=number) for number in range(1, 6)]
    long = report(0, *lines, stuck="0", now=inside(5))
    short = report(1, *lines[:2], *lines[3:], left="exited")
    found = certain(diagnose([long, short]))
    assert (found.kind, found.seq) == ("skipped", 3)
    assert "rank 1 skipped all_reduce" in found.what


def test_a_rank_that_is_merely_late_is_not_certain() -> None:
    late = report(1, now=Now("out", 6.0, "", 0, (), None))
    found = diagnose([report(0, call(), stuck="0", now=inside(1)), late])
    assert found is not None
    assert (found.kind, found.certain) == ("missing", False)


def test_ranks_that_wait_for_each_other_are_certain() -> None:
    groups = {name: GroupCalls(name, WORLD, 0, ()) for name in "AB"}
    one = {**groups, "A": GroupCalls("A", WORLD, 1, (call(),))}
    two = {**groups, "B": GroupCalls("B", WORLD, 1, (call(),))}
    found = diagnose(
        [
            RankReport(0, stuck="A", now=inside(1, "A"), groups=one),
            RankReport(1, stuck="B", now=inside(1, "B"), groups=two),
        ]
    )
    assert "the ranks wait for each other" in certain(found).what


def test_a_circle_of_three() -> None:
    names = {"A": (0, 1), "B": (1, 2), "C": (2, 0)}
    empty = {name: GroupCalls(name, ranks, 0, ()) for name, ranks in names.items()}
    reports = [
        RankReport(
            rank,
            stuck=name,
            now=inside(1, name),
            groups={n: g for n, g in empty.items() if rank in g.ranks}
            | {name: GroupCalls(name, names[name], 1, (call(),))},
        )
        for rank, name in enumerate("ABC")
    ]
    assert "the ranks wait for each other" in certain(diagnose(reports)).what


def test_a_group_whose_trouble_is_known_is_left_out() -> None:
    reports = [report(0, call()), report(1, call(op="barrier"))]
    assert diagnose(reports) is not None
    assert diagnose(reports, {"0"}) is None


def test_a_report_survives_the_board() -> None:
    now = Now("waits", 1.5, "0", 2, (Site("/a.py", 3, "f"),), Site("/a.py", 3, "f"))
    via = call()._replace(via=Site("/lib.py", 7, "g"))
    before = report(1, call(), via, call(), stuck="0", left="raised", now=now)
    assert from_json(to_json(before)) == before


def test_the_table_names_the_rule_of_the_differing_line_first() -> None:
    reports = [report(0, call(line=79), now=inside(1)), report(1, call(op="barrier", line=121))]
    found = diagnose(reports)
    assert found is not None
    elsewhere = KnownFinding("DST102", "unsynced-break", "break", "/train.py", 128, (("/x.py", 1),))
    here = KnownFinding("DST101", "in-rank-branch", "parts", "/train.py", 113, (("/train.py", 79),))
    text = table(found, reports, [elsewhere, here], rank=1)
    assert "DST101 in-rank-branch, /train.py:113: parts" in text
    assert "DST102" not in text
    assert "rank 1: barrier(SUM) float32[4] at /train.py:121 in step" in text


def test_words() -> None:
    assert words("all_gather", ((3,), "torch.int64", (4,), "torch.int64"), None, None, (0, 1)) == (
        "all_gather",
        "",
        "",
        "int64",
        "[3], [4]",
        "",
    )
    assert words("broadcast", (), ("group", 1), None, (4, 6))[2] == "root 6"
    assert words("all_reduce", (), None, "RedOpType.MAX", (0,))[1] == "MAX"


def lost(*calls: Call, ranks: tuple[int, ...] = WORLD) -> RankReport:
    """Rank 1, which was killed after it had published these calls."""
    return report(1, *calls, ranks=ranks, left=KILLED, partial=True)


def test_a_rank_that_was_killed_may_have_gone_further_than_it_had_published() -> None:
    waiting = report(0, *[call(line=n) for n in range(1, 5)], stuck="0", now=inside(4))
    found = certain(diagnose([waiting, lost(call(line=1))]))
    assert found.what == "rank 1 left after call 1 and before the end of call 4"
    assert (found.seq, found.common_seq) == (4, 1)
    text = table(found, [waiting, lost(call(line=1))], [], rank=0)
    assert "last collective known to match: call 1\n" in text
    assert "first difference: call 4\n" in text
    assert "  rank 1: is not known to have reached it\n" in text
    assert f"  rank 1: {KILLED}; last known collective: call 1, all_reduce at" in text
    assert "has not reached" not in text


def test_a_rank_that_was_killed_before_the_call_of_the_others() -> None:
    waiting = report(0, call(), call(), stuck="0", now=inside(2))
    assert certain(diagnose([waiting, lost(call())])).what == "rank 1 left before the end of call 2"


def test_ranks_ahead_of_one_that_was_killed_without_waiting_for_it() -> None:
    """As with collectives that only enqueue work for a GPU."""
    ahead = report(0, *[call()] * 9, stuck="0", now=Now("out", 6.0, "", 0, (), None))
    found = certain(diagnose([ahead, lost(call())]))
    assert found.what == "rank 1 left after call 1 and before the end of call 9"


def test_a_rank_that_was_killed_in_the_call_of_the_others() -> None:
    waiting = report(0, call(), stuck="0", now=inside(1))
    assert certain(diagnose([waiting, lost(call())])).what == "rank 1 left during call 1"
    done = report(0, call(), stuck="0", now=Now("out", 6.0, "", 0, (), None))
    assert diagnose([done, lost(call())]) is None


def test_a_rank_that_left_in_its_own_words_has_published_its_last_call() -> None:
    waiting = report(0, call(), call(), stuck="0", now=inside(2))
    left = report(1, call(), left="exited with status 0")
    assert certain(diagnose([waiting, left])).what == "rank 1 left before call 2"


def test_the_table_of_many_ranks_has_one_line_for_those_that_do_the_same() -> None:
    world = tuple(range(64))
    times = {rank: replace(inside(2), seconds=5 + rank / 100) for rank in world}
    reports = [report(0, call(), call(op="barrier", line=9), ranks=world, now=inside(2))]
    reports += [report(r, call(), call(line=7), ranks=world, now=times[r]) for r in world[1:]]
    text = table(certain(diagnose(reports)), reports, [], rank=0)
    assert len(text.splitlines()) < 14
    assert "group 0 (ranks 0-63)" in text
    assert "  ranks 0-63: all_reduce(SUM) float32[4] at /train.py:1 in step" in text
    assert "  ranks 1-63: in all_reduce(SUM) float32[4] (call 2) for 5.0 to 5.6 s" in text


def test_ranks_that_do_different_things_have_a_line_each() -> None:
    reports = [report(r, call(line=r), left=f"raised {r}", ranks=(0, 1, 2)) for r in (0, 1)]
    reports.append(report(2, call(), call(), ranks=(0, 1, 2), stuck="0", now=inside(2)))
    text = table(certain(diagnose(reports)), reports, [], rank=2)
    assert "  rank 0: raised 0; last collective: call 1" in text
    assert "  rank 1: raised 1; last collective: call 1" in text
    assert "  ranks 0, 1: have not reached it\n" in text


STEP, AFTER = call(op="backward", line=3), call(op="barrier", line=9)
OTHER = call(op="all_gather", line=8)
A, B = call(passed="a"), call(passed="b")


@pytest.mark.parametrize(
    ("calls", "more", "codes"),
    [
        (((STEP, STEP), (STEP,)), {1: {"left": "finished"}}, ["DST113"]),
        (((call(), call()), (call(),)), {1: {"left": "left the watch"}}, ["DST109"]),
        (((STEP, STEP), (STEP, AFTER)), {}, ["DST113"]),
        (((STEP, AFTER), (STEP, STEP)), {}, ["DST101", "DST113"]),
        (((OTHER,), (STEP,)), {}, ["DST101"]),
        (((STEP, STEP), (STEP,)), {1: {"left": "exited with status 0 at a.py:3"}}, ["DST104"]),
        (((STEP, STEP), (STEP,)), {1: {"left": "raised KeyError: 3 at a.py:3"}}, []),
        (((STEP, STEP), (STEP,)), {1: {"left": KILLED, "partial": True}}, []),
        (
            ((call(passed="a"), call(passed="b")), (call(passed="b"), call(passed="a"))),
            {},
            ["DST105"],
        ),
        (((call(),), (call(shape="[5]"),)), {}, ["DST106"]),
        (((call(),), (call(reduce="MAX"),)), {}, ["DST111"]),
        (((call(),), (call(shape="[5]", dtype="int8"),)), {}, ["DST111"]),
        (((call(op="new_group"),), (call(),)), {}, ["DST114"]),
        (((STEP,), ()), {}, []),
        (((), (STEP,)), {0: {"now": Now("out", 6.0, "", 0, (), None)}}, ["DST121"]),
    ],
)
def test_the_rule_that_fits_is_named(
    calls: tuple[tuple[Call, ...], ...], more: dict[int, dict[str, object]], codes: list[str]
) -> None:
    """Rank 2 does what rank 1 does, unless it is said to be elsewhere, where it follows rank 0."""
    odd = 2 if 1 in more or codes == ["DST113"] else 0
    reports = []
    for rank in range(3):
        side = 0 if rank == 0 or (odd and rank == 2) else 1
        now = inside(len(calls[side])) if calls[side] else None
        state = {"now": now, "stuck": "0" if side == (1 if 0 in more else 0) else ""}
        state |= more.get(rank, {})
        reports.append(report(rank, *calls[side], ranks=(0, 1, 2), **state))
    found = diagnose(reports)
    assert found is not None
    assert [hint.code for hint in hints(found, reports)] == codes
    text = table(found, reports, [], rank=0)
    assert [
        code for code in RULES if f"see `distlint rule {code}` ({RULES[code]})" in text
    ] == codes


def test_a_known_finding_takes_the_place_of_a_hint() -> None:
    reports = [report(0, OTHER), report(1, STEP)]
    found = diagnose(reports)
    assert found is not None
    finding = KnownFinding("DST117", "rank-local-skip", "skips", "/train.py", 8)
    assert "hint:" not in table(found, reports, [finding], rank=0)


def test_hints_name_rules_that_exist() -> None:
    from distlint.rules.registry import rules

    known = rules()
    assert {code: known[code].name for code in RULES} == RULES


def test_the_table_names_the_rule_that_fits_what_the_ranks_did() -> None:
    reports = [report(0, STEP, call("barrier", 14)), report(1, STEP, STEP)]
    found = diagnose(reports)
    assert found is not None
    assert STEP.site is not None
    step = ("/train.py", STEP.site.line)
    skip = KnownFinding("DST117", "rank-local-skip", "x", "/train.py", 3, (step,))
    branch = KnownFinding("DST101", "in-rank-branch", "x", "/train.py", 13, (("/train.py", 14),))
    text = table(found, reports, [skip, branch], rank=0)
    assert "DST101 in-rank-branch" in text
    assert "DST117" not in text


def test_the_table_names_the_rule_about_the_calls_of_most_ranks() -> None:
    reports = [report(0, call("barrier", 14)), report(1, call("all_reduce", 20))]
    found = diagnose(reports)
    assert found is not None
    one = KnownFinding("DST102", "unsynced-break", "x", "/train.py", 3, (("/train.py", 20),))
    both = ("/train.py", 14), ("/train.py", 20)
    other = KnownFinding("DST104", "rank-dependent-exit", "x", "/train.py", 8, both)
    text = table(found, reports, [one, other], rank=0)
    assert "DST104" in text
    assert "DST102" not in text
