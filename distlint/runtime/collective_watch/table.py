"""The one table that every rank prints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from distlint.runtime.collective_watch.calls import Call
from distlint.runtime.collective_watch.diagnosis import Diagnosis
from distlint.runtime.collective_watch.report import RankReport
from distlint.runtime.collective_watch.sites import Site, shown

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
    yield f"group {diagnosis.group or 'of all'} ({_ranks(diagnosis.ranks)})"
    if diagnosis.common:
        yield f"last common collective: call {diagnosis.seq - 1}"
        yield from _calls(diagnosis.common)
    else:
        yield "last common collective: none"
    yield f"first difference: call {diagnosis.seq}"
    yield from _calls(diagnosis.calls)
    yield "what each rank is doing:"
    for report in reports:
        yield f"  rank {report.rank}: {_doing(report)}"
    for finding in related(diagnosis, reports, findings):
        yield f"{finding.code} {finding.name}, {shown(finding.file)}:{finding.line}: " + (
            finding.message
        )
    yield "=="


def _calls(calls: Mapping[int, Call | None]) -> Iterator[str]:
    together: dict[Call | None, list[int]] = {}
    for rank, call in calls.items():
        together.setdefault(call, []).append(rank)
    for each, ranks in together.items():
        yield f"  {_ranks(ranks)}: {'has not come to it' if each is None else _at(each)}"


def _at(call: Call) -> str:
    text = str(call)
    if call.site is not None:
        text += f" at {call.site}"
    if call.via is not None:
        text += f" (through {os.path.basename(call.via.file)}:{call.via.line})"
    return text


def _doing(report: RankReport) -> str:
    now, last = report.now, _last(report)
    if report.left:
        return report.left + (f"; its last collective was {last}" if last else "")
    if now is None:
        return "nothing is known of it"
    where = f", at {now.site}" if now.site is not None else ""
    if now.state == "out":
        text = f"not in a collective since {now.seconds:.1f} s{where}"
        return text + (f"; its last was {last}" if last else "")
    call = report.groups[now.group].get(now.seq) if now.group in report.groups else None
    verb = "waits for" if now.state == "waits" else "in"
    group = f" of group {now.group}" if now.group != "0" else ""
    return f"{verb} {call} (call {now.seq}{group}) since {now.seconds:.1f} s{where}"


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
    """The findings about the lines where ranks part ways; else about where they are stuck."""
    calls = [call for call in diagnosis.calls.values() if call is not None]
    differing = _places(site for call in calls for site in (call.site, call.via))
    found = [each for each in findings if each.places & differing]
    if not found:
        stacks = [site for report in reports if report.now for site in report.now.stack]
        found = [each for each in findings if each.places & _places(stacks)]
    found.sort(key=lambda each: (each.file, each.line) not in differing)
    return found[:_MOST_RULES]


def _places(sites: Iterator[Site | None] | list[Site]) -> set[tuple[str, int]]:
    return {(os.path.abspath(site.file), site.line) for site in sites if site is not None}


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank{'' if len(ranks) == 1 else 's'} {', '.join(map(str, ranks))}"
