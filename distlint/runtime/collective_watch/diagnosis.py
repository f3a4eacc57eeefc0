"""Where ranks part ways, found by laying their reports side by side. Pure: no torch, no store.

A different call site alone is no difference: both arms of a branch may call the same collective.
What counts is what the members of a group must agree on, and payloads that cross: A then B on one
rank against B then A on another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from distlint.runtime.collective_watch.calls import Call
from distlint.runtime.collective_watch.report import GroupCalls, RankReport
from distlint.runtime.errors import in_words

Kind = Literal["mismatch", "swapped", "skipped", "left", "missing"]
CROSSING = 8  # how many calls apart two payloads may be and still be taken to have crossed

_MOST_PLACES = 4
_ASPECTS = ("operation", "reduce op", "root", "dtype", "shape", "argument")


@dataclass(frozen=True)
class Diagnosis:
    """The first difference; ``certain`` if no amount of waiting will cure it.

    ``common_seq`` is the last call that all are known to have made. It is not the one before
    ``seq`` where a rank was killed that may have gone further than it had published.
    """

    kind: Kind
    what: str
    group: str
    ranks: tuple[int, ...]
    seq: int
    calls: dict[int, Call | None]
    common: dict[int, Call]
    certain: bool
    common_seq: int = 0

    @property
    def message(self) -> str:
        """What differs, and where the ranks are that have come to it."""
        places = [f"rank {r} at {c.site}" for r, c in self.calls.items() if c and c.site]
        more = ["..."] if len(places) > _MOST_PLACES else []
        return f"{self.what} ({', '.join(places[:_MOST_PLACES] + more)})" if places else self.what


def diagnose(reports: Sequence[RankReport], known: Collection[str] = ()) -> Diagnosis | None:
    """The first difference between the ranks, or None where they agree.

    Groups in ``known`` are left out: what is wrong there has been said.
    """
    by_rank = {report.rank: report for report in reports}
    names = dict.fromkeys(name for report in reports for name in report.groups)
    groups = [_Group(name, by_rank) for name in names if name not in known]
    for find in (_mismatch, _swapped, _missing):
        found = [diagnosis for group in groups if (diagnosis := find(group)) is not None]
        if found:
            return min(found, key=lambda diagnosis: not diagnosis.certain)
    return None


class _Group:
    """The reports of the members of one group."""

    def __init__(self, name: str, by_rank: Mapping[int, RankReport]) -> None:
        self.name = name
        self.by_rank = by_rank
        known = {r: report.groups[name] for r, report in by_rank.items() if name in report.groups}
        self.ranks = next(iter(known.values())).ranks
        # A member that has never called anything on the group still belongs to it.
        self.members = {
            rank: known.get(rank, GroupCalls(name, self.ranks, 0, ()))
            for rank in self.ranks
            if rank in known or rank in by_rank
        }

    def at(self, seq: int) -> dict[int, Call]:
        calls = {rank: member.get(seq) for rank, member in self.members.items()}
        return {rank: call for rank, call in calls.items() if call is not None}

    def result(
        self, kind: Kind, what: str, seq: int, *, certain: bool, common: int | None = None
    ) -> Diagnosis:
        at = self.at(seq)
        calls = {rank: at.get(rank) for rank in self.members}
        last = seq - 1 if common is None else common
        before = self.at(last)
        return Diagnosis(kind, what, self.name, self.ranks, seq, calls, before, certain, last)

    def common_range(self) -> range:
        """The numbers of calls that at least two members know."""
        counts = sorted(member.count for member in self.members.values())
        firsts = sorted(member.first for member in self.members.values() if member.calls)
        if len(counts) < 2 or not firsts:
            return range(0)
        return range(firsts[min(1, len(firsts) - 1)], counts[-2] + 1)


def _mismatch(group: _Group) -> Diagnosis | None:
    for seq in group.common_range():
        calls = group.at(seq)
        if len({call.key for call in calls.values()}) > 1:
            kind, what = _difference(group, seq, calls)
            return group.result(kind, what, seq, certain=True)
    return None


def _difference(group: _Group, seq: int, calls: Mapping[int, Call]) -> tuple[Kind, str]:
    a, b = _differing_pair(calls)
    one, two = group.members[a], group.members[b]
    after_a, after_b = one.get(seq + 1), two.get(seq + 1)
    a_skipped = after_b is not None and after_b == calls[a]
    b_skipped = after_a is not None and after_a == calls[b]
    crossed = (
        after_a is not None
        and after_b is not None
        and after_a.key == calls[b].key
        and after_b.key == calls[a].key
    )
    if crossed:
        return "swapped", (
            f"rank {a} calls {calls[a]} and then {calls[b]}, "
            f"rank {b} calls them in the opposite order"
        )
    if b_skipped:
        return "skipped", f"rank {b} skipped {calls[a]}"
    if a_skipped:
        return "skipped", f"rank {a} skipped {calls[b]}"
    return "mismatch", _aspects(a, b, calls)


def _differing_pair(calls: Mapping[int, Call]) -> tuple[int, int]:
    first = min(calls)
    return first, next(rank for rank in sorted(calls) if calls[rank].key != calls[first].key)


def _aspects(a: int, b: int, calls: Mapping[int, Call]) -> str:
    one, two = calls[a], calls[b]
    if one.op != two.op:
        return f"different operations: {_said(a, one)}, {_said(b, two)}"
    differ = [name for name, x, y in zip(_ASPECTS, one.key, two.key, strict=True) if x != y]
    return (
        f"the {' and the '.join(differ)} of {one.op} differ{'' if len(differ) > 1 else 's'}: "
        + (f"{_said(a, one)}, {_said(b, two)}")
    )


def _said(rank: int, call: Call) -> str:
    return f"rank {rank} {call}"


def _swapped(group: _Group) -> Diagnosis | None:
    """Payloads that cross although every call looks the same from outside."""
    for a, b in combinations(group.members, 2):
        left, right = group.members[a], group.members[b]
        first = max(left.first, right.first)
        last = min(left.count, right.count)
        pair = crossing([(seq, left.get(seq), right.get(seq)) for seq in range(first, last + 1)])
        if pair is None:
            continue
        one, two = left.get(pair[0]), left.get(pair[1])
        assert one is not None
        assert two is not None
        what = (
            f"swapped payloads: rank {a} calls {one.op}({_text(one)}) and then "
            f"{two.op}({_text(two)}), rank {b} in the opposite order"
        )
        return group.result("swapped", what, pair[0], certain=True)
    return None


def crossing(pairs: Iterable[tuple[int, Call | None, Call | None]]) -> tuple[int, int] | None:
    """The numbers of two calls whose payloads cross between two ranks."""
    open_pairs: list[tuple[int, Call, Call]] = []
    for seq, one, two in pairs:
        if one is None or two is None or one.arguments == two.arguments:
            continue
        open_pairs = [each for each in open_pairs if seq - each[0] <= CROSSING]
        for earlier, left, right in open_pairs:
            crosses = left.arguments == two.arguments and right.arguments == one.arguments
            if crosses and left.key == one.key:
                return earlier, seq
        open_pairs.append((seq, one, two))
    return None


def _text(call: Call) -> str:
    """The innermost argument that a reader would recognise."""
    return call.arguments[0] if call.arguments else ""


def _missing(group: _Group) -> Diagnosis | None:
    """A rank waits for, or has finished, a call that others never reached."""
    last = max(member.count for member in group.members.values())
    behind = {r: member.count for r, member in group.members.items() if member.count < last}
    if not behind:
        return _lost_inside(group, last)
    reports = group.by_rank
    stuck = any(reports[rank].stuck == group.name for rank in group.members)
    gone = [rank for rank in sorted(behind) if reports[rank].left]
    if not stuck and not gone:
        return None  # snapshots are not taken at the same moment
    if not stuck and any(not reports[rank].left for rank in group.members if rank not in behind):
        return None  # whoever is ahead has not been waiting for long
    seq = min(behind.values()) + 1
    skipped = _skipped(group, behind)
    if skipped is not None:
        rank, number, call = skipped
        what = f"{in_words([rank])} skipped {call}"
        return group.result("skipped", what, number, certain=bool(gone) or _circle(reports))
    if any(reports[rank].partial for rank in gone):
        return _lost(group, [rank for rank in gone if reports[rank].partial], seq)
    if gone:
        what = f"{in_words(gone)} left before call {seq}"
        return group.result("left", what, seq, certain=True)
    certain = _circle(reports)
    what = f"{in_words(behind)} did not reach call {seq}"
    if certain:
        what += ", and the ranks wait for each other"
    return group.result("missing", what, seq, certain=certain)


def _lost(group: _Group, lost: Sequence[int], seq: int) -> Diagnosis:
    """Ranks were killed, and may have gone further than the call before ``seq``.

    The others say how far at most: what they are still in, they wait for.
    """
    waits = [
        report.now.seq
        for rank in group.members
        if (report := group.by_rank[rank]).now is not None
        and report.now.state != "out"
        and report.now.group == group.name
    ]
    least = min(group.members[rank].count for rank in lost)
    until = max(seq, min(waits, default=max(m.count for m in group.members.values())))
    after = "" if until == seq else f"after call {least} and "
    what = f"{in_words(lost)} left {after}before the end of call {until}"
    return group.result("left", what, until, certain=True, common=seq - 1)


def _lost_inside(group: _Group, last: int) -> Diagnosis | None:
    """Was a rank killed in the call in which the others are stuck?"""
    reports = group.by_rank
    lost = [rank for rank in group.members if reports[rank].partial and reports[rank].left]
    stuck = any(
        report.stuck == group.name and report.now is not None and report.now.seq == last
        for rank in group.members
        if not (report := reports[rank]).left
    )
    if not last or not lost or not stuck:
        return None
    return group.result("left", f"{in_words(lost)} left during call {last}", last, certain=True)


def _skipped(group: _Group, behind: Mapping[int, int]) -> tuple[int, int, Call] | None:
    """A rank whose calls line up with those of another if it skipped one of them.

    This is seen by call sites: the calls themselves may all look the same.
    """
    ahead = next(rank for rank in group.members if rank not in behind)
    long = group.members[ahead]
    for rank, count in behind.items():
        short = group.members[rank]
        if long.count - count != 1:
            continue
        for seq in range(max(long.first, short.first), count + 1):
            one, two = long.get(seq), short.get(seq)
            if one is None or two is None or one == two:
                continue
            rest = range(seq, count + 1)
            if all(short.get(each) == long.get(each + 1) for each in rest):
                return rank, seq, one
            break
    return None


def _circle(reports: Mapping[int, RankReport]) -> bool:
    """Do ranks wait for one another, or for one that has left?"""
    waits = {rank: _awaited(report, reports) for rank, report in reports.items()}
    stuck = {rank for rank, report in reports.items() if report.left}
    if any(waits[rank] & stuck for rank in waits):
        return True
    for start in waits:
        seen: set[int] = set()
        todo = list(waits[start])
        while todo:
            rank = todo.pop()
            if rank == start:
                return True
            if rank not in seen:
                seen.add(rank)
                todo += waits.get(rank, ())
    return False


def _awaited(report: RankReport, reports: Mapping[int, RankReport]) -> set[int]:
    """The ranks that have not come to the call in which this one is."""
    now = report.now
    if now is None or now.state == "out" or report.left or now.group not in report.groups:
        return set()
    return {
        rank
        for rank in report.groups[now.group].ranks
        if rank in reports and _count(reports[rank], now.group) < now.seq
    }


def _count(report: RankReport, group: str) -> int:
    return report.groups[group].count if group in report.groups else 0
