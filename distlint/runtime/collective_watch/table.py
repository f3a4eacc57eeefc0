"""The table that one of the ranks prints for all. :mod:`distlint.diagnose.watch` reads it back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from distlint.runtime.collective_watch.calls import Call
from distlint.runtime.collective_watch.diagnosis import Diagnosis
from distlint.runtime.collective_watch.hints import hints
from distlint.runtime.collective_watch.report import RankReport
from distlint.runtime.collective_watch.sites import Site, shown
from distlint.runtime.errors import in_words

_MOST_RULES = 3


@dataclass(frozen=True)
class KnownFinding:
    """What the static analysis said before the run: a rule, its line, the lines that belong."""

    code: str
    name: str
    message: str
    file: str
    line: int
    related: tuple[tuple[str, int], ...] = ()

    @property
    def places(self) -> set[tuple[str, int]]:
        """All lines that the finding is about."""
        return {(self.file, self.line), *self.related}


def table(
    diagnosis: Diagnosis,
    reports: Sequence[RankReport],
    findings: Sequence[KnownFinding],
    rank: int,
) -> str:
    """The table as rank ``rank`` prints it."""
    return "\n".join(_lines(diagnosis, reports, findings, rank))


def _lines(
    diagnosis: Diagnosis,
    reports: Sequence[RankReport],
    findings: Sequence[KnownFinding],
    rank: int,
) -> Iterator[str]:
    yield f"== distlint watch, seen by rank {rank}: {diagnosis.what}"
    yield f"group {diagnosis.group or 'of all'} ({in_words(diagnosis.ranks)})"
    partial = {report.rank for report in reports if report.partial}
    if diagnosis.common:
        known = diagnosis.common_seq < diagnosis.seq - 1
        what = "last collective known to match" if known else "last matching collective"
        yield f"{what}: call {diagnosis.common_seq}"
        yield from _calls(diagnosis.common, partial)
    else:
        yield "last matching collective: none"
    yield f"first difference: call {diagnosis.seq}"
    yield from _calls(diagnosis.calls, partial)
    yield "what each rank is doing:"
    yield from _activities(reports)
    known_findings = related(diagnosis, reports, findings)
    for finding in known_findings:
        yield f"{finding.code} {finding.name}, {shown(finding.file)}:{finding.line}: " + (
            finding.message
        )
    for hint in () if known_findings else hints(diagnosis, reports):
        yield f"hint: {hint.reason}: see `distlint rule {hint.code}` ({hint.name})"
    yield "=="


def _calls(calls: Mapping[int, Call | None], partial: set[int]) -> Iterator[str]:
    """The ranks by the call that they have made."""
    together: dict[str, list[int]] = {}
    for rank, call in calls.items():
        absent = "is not known to have reached it" if rank in partial else "has not reached it"
        together.setdefault(absent if call is None else _at(call), []).append(rank)
    for text, ranks in together.items():
        if len(ranks) > 1:
            text = text.replace("has not", "have not").replace("is not", "are not")
        yield f"  {in_words(ranks)}: {text}"


def _at(call: Call) -> str:
    text = str(call)
    if call.site is not None:
        text += f" at {call.site}"
    if call.via is not None:
        text += f" (through {os.path.basename(call.via.file)}:{call.via.line})"
    return text


class _Activity(NamedTuple):
    """What a rank is doing; the time differs from rank to rank."""

    before: str
    seconds: float | None = None
    after: str = ""


def _activities(reports: Sequence[RankReport]) -> Iterator[str]:
    """One line for all ranks that do the same."""
    together: dict[tuple[str, str], list[tuple[int, float | None]]] = {}
    for report in reports:
        found = _doing(report)
        together.setdefault((found.before, found.after), []).append((report.rank, found.seconds))
    for (before, after), members in together.items():
        times = [f"{seconds:.1f}" for _, seconds in members if seconds is not None]
        least, most = min(times, key=float, default=""), max(times, key=float, default="")
        since = f" for {least if least == most else f'{least} to {most}'} s" if times else ""
        yield f"  {in_words(rank for rank, _ in members)}: {before}{since}{after}"


def _doing(report: RankReport) -> _Activity:
    now, last = report.now, _last(report)
    if report.left:
        if not last:
            return _Activity(report.left)
        if report.partial:
            return _Activity(f"{report.left}; last known collective: {last}")
        return _Activity(f"{report.left}; last collective: {last}")
    if now is None:
        return _Activity("unknown")
    where = f", at {now.site}" if now.site is not None else ""
    if now.state == "out":
        ending = f"; last collective: {last}" if last else ""
        return _Activity("not in a collective", now.seconds, where + ending)
    call = report.groups[now.group].get(now.seq) if now.group in report.groups else None
    verb = "waits for" if now.state == "waits" else "in"
    group = f" of group {now.group}" if now.group != "0" else ""
    return _Activity(f"{verb} {call} (call {now.seq}{group})", now.seconds, where)


def _last(report: RankReport) -> str:
    found = [group for group in report.groups.values() if group.calls]
    if not found:
        return ""
    group = found[0] if len(found) == 1 else max(found, key=lambda each: each.count)
    call = group.calls[-1]
    where = f" at {call.site}" if call.site is not None else ""
    return f"call {group.count}, {call.op}{where}"


def related(
    diagnosis: Diagnosis, reports: Sequence[RankReport], findings: Sequence[KnownFinding]
) -> list[KnownFinding]:
    """The findings about the lines where ranks diverge; else about where they are stuck.

    Of several about such lines, those that speak of the calls of most ranks, and of these, those
    whose rule is about what the calls show.
    """
    calls = [call for call in diagnosis.calls.values() if call is not None]
    sides = {frozenset(_places([call.site, call.via])) for call in calls}
    differing = set().union(*sides)
    found = [each for each in findings if each.places & differing]
    if len(found) > 1:
        codes = {hint.code for hint in hints(diagnosis, reports)}
        fit = [
            (sum(map(bool, map(each.places.intersection, sides))), each.code in codes)
            for each in found
        ]
        found = [each for each, how in zip(found, fit, strict=True) if how == max(fit)]
    if not found:
        stacks = [site for report in reports if report.now for site in report.now.stack]
        found = [each for each in findings if each.places & _places(stacks)]
    found.sort(key=lambda each: (each.file, each.line) not in differing)
    return found[:_MOST_RULES]


def _places(sites: Iterable[Site | None]) -> set[tuple[str, int]]:
    return {(os.path.abspath(site.file), site.line) for site in sites if site is not None}
