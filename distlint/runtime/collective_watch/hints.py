"""Which rule is about what the ranks did: where the calls show a known pattern, and only there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from distlint.runtime.collective_watch.calls import Call
from distlint.runtime.collective_watch.diagnosis import Diagnosis
from distlint.runtime.collective_watch.report import RankReport
from distlint.runtime.errors import in_words

RULES = {
    "DST101": "collective-in-rank-branch",
    "DST104": "rank-dependent-exit",
    "DST105": "divergent-collective-order",
    "DST106": "rank-dependent-shape",
    "DST109": "rank-dependent-loop-count",
    "DST111": "mismatched-collective-arguments",
    "DST113": "uneven-inputs",
    "DST114": "group-created-on-some-ranks",
    "DST121": "long-rank0-work",
}
"""The rules that hints name, as the static analysis calls them."""

_OF_A_STEP = ("backward", "rebuild_buckets", "broadcast_coalesced")  # of DistributedDataParallel
_OF_ITS_OWN_ACCORD = ("finished", "left the watch", "destroyed its process group")


class Hint(NamedTuple):
    """A rule, and what has been seen that it is about."""

    code: str
    reason: str

    @property
    def name(self) -> str:
        return RULES[self.code]


def hints(diagnosis: Diagnosis, reports: Sequence[RankReport]) -> list[Hint]:
    """The rules about what is seen; none where nothing can be told from it."""
    if diagnosis.kind == "swapped":
        return [Hint("DST105", "the ranks call the same collectives in a different order")]
    by_rank = {report.rank: report for report in reports}
    if diagnosis.kind in ("left", "missing"):
        return _of_missing(diagnosis, by_rank)
    return _of_different_calls(diagnosis, by_rank)


def _of_missing(diagnosis: Diagnosis, by_rank: dict[int, RankReport]) -> list[Hint]:
    absent = [rank for rank, call in diagnosis.calls.items() if call is None]
    waiting = {rank: call for rank, call in diagnosis.calls.items() if call is not None}
    reports = [by_rank[rank] for rank in absent if rank in by_rank]
    if not waiting or not reports:
        return []
    if all(report.left.startswith("exited with status") for report in reports):
        return [Hint("DST104", f"{in_words(absent)} exited before the other ranks")]
    if all(report.left.startswith(_OF_ITS_OWN_ACCORD) for report in reports):
        return _of_loops(diagnosis, waiting, absent, by_rank)
    working = all(
        not report.left and report.now and report.now.state == "out" for report in reports
    )
    if absent == [0] and working and len(by_rank) > 1:
        return [Hint("DST121", "the other ranks wait while rank 0 works alone")]
    return []


def _of_different_calls(diagnosis: Diagnosis, by_rank: dict[int, RankReport]) -> list[Hint]:
    sides: dict[tuple[str, ...] | None, list[int]] = {}
    for rank, call in diagnosis.calls.items():
        sides.setdefault(None if call is None else call.key, []).append(rank)
    calls = [call for call in diagnosis.calls.values() if call is not None]
    operations = {call.op for call in calls}
    if operations & {"new_group", "split_group"}:
        return [Hint("DST114", "the ranks do not create the same groups")]
    if diagnosis.kind == "mismatch" and len(operations) == 1:
        return [_of_arguments(calls)]
    found = []
    first = diagnosis.calls.get(0)
    peers = [report for rank, report in by_rank.items() if rank]
    if (
        [0] in sides.values()
        and len(sides) == 2
        and first is not None
        and not any(_made(report, diagnosis, first) for report in peers)
    ):
        found.append(Hint("DST101", "rank 0 and the other ranks call different collectives"))
    if diagnosis.kind == "mismatch":
        for ranks in sides.values():
            others = {r: c for r, c in diagnosis.calls.items() if r not in ranks and c is not None}
            found += _of_loops(diagnosis, others, ranks, by_rank)
    return found


def _of_arguments(calls: Sequence[Call]) -> Hint:
    op = calls[0].op
    if len({call.shape for call in calls}) > 1 and len({call.dtype for call in calls}) == 1:
        return Hint("DST106", f"the ranks call {op} with different shapes")
    return Hint("DST111", f"the ranks call {op} with different arguments")


def _of_loops(
    diagnosis: Diagnosis,
    waiting: dict[int, Call],
    finished: Sequence[int],
    by_rank: dict[int, RankReport],
) -> list[Hint]:
    """Are some ranks still in a loop that the others have left?"""
    if len({(call.key, call.site) for call in waiting.values()}) != 1:
        return []
    call = next(iter(waiting.values()))
    repeats = all(_made(by_rank.get(rank), diagnosis, call) for rank in (*waiting, *finished))
    elsewhere = [found for rank in finished if (found := diagnosis.calls[rank]) is not None]
    also_repeats = any(
        _made(by_rank.get(rank), diagnosis, c) for c in elsewhere for rank in by_rank
    )
    if not repeats or also_repeats:
        return []
    code = "DST113" if call.op in _OF_A_STEP else "DST109"
    have, are = ("have" if len(finished) > 1 else "has"), ("are" if len(waiting) > 1 else "is")
    reason = f"{in_words(finished)} {have} left a loop that {in_words(waiting)} {are} still in"
    return [Hint(code, reason)]


def _made(report: RankReport | None, diagnosis: Diagnosis, call: Call) -> bool:
    """Has a rank made the same call, at the same line, before the difference?"""
    group = None if report is None else report.groups.get(diagnosis.group)
    earlier: Iterable[Call] = () if group is None else group.calls
    first = 1 if group is None else group.first
    return any(
        each.site == call.site and each.op == call.op and number < diagnosis.seq
        for number, each in enumerate(earlier, first)
    )
