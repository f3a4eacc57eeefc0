"""Marks for the hangs of a report: whether a script that shows one hangs when it is run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from distlint.confirm.reproducers import Reproducer, reproducers_in
from distlint.confirm.run import VERDICTS, Confirmation, confirmed
from distlint.engine.check import Session
from distlint.engine.errors import ConfigError
from distlint.engine.settings import Resolver
from distlint.rules.find import witness_rules
from distlint.source import finding as plain
from distlint.source.report import Report, Reported


def marked(report: Report, resolver: Resolver) -> Report:
    """The report, with a mark on each hang; what does not hang is one severity lower."""
    about_hangs = {rule.code for rule in witness_rules()}
    hangs = [item.finding for item in report.reported if item.finding.code in about_hangs]
    paths = dict.fromkeys(each.place.path for each in hangs)
    outcomes = confirmed(list(_reproducers(paths, resolver)))
    found = {_key(each.reproducer.finding): each for each in outcomes}
    items = (
        _marked(item, found.get(_key(item.finding)), resolver)
        if item.finding.code in about_hangs
        else item
        for item in report.reported
    )
    return replace(report, reported=tuple(items))


def _key(finding: plain.Finding) -> tuple[str, plain.Place]:
    return (finding.code, finding.place)


def _reproducers(paths: Iterable[Path], resolver: Resolver) -> Iterator[Reproducer]:
    session = Session(resolver)
    for path in paths:
        with suppress(ConfigError):  # a notebook, which has no script
            yield from reproducers_in(path, resolver, session)
        session.release()


def _marked(item: Reported, outcome: Confirmation | None, resolver: Resolver) -> Reported:
    if outcome is None:
        where = "a notebook" if item.finding.place.cell else "another script"
        none = plain.Confirmation("no script", f"it is found in {where}")
        return replace(item, finding=replace(item.finding, confirmation=none))
    finding = replace(item.finding, confirmation=confirmation(outcome))
    if outcome.effect is None or outcome.is_confirmed:
        return replace(item, finding=finding)
    finding = replace(finding, severity=finding.severity.lower)
    fail_on = resolver.of_file(finding.place.path).fail_on
    fails = item.fails and finding.severity.weight >= fail_on.weight
    return replace(item, finding=finding, fails=fails)


def confirmation(outcome: Confirmation) -> plain.Confirmation:
    """What is said of a hang whose script was run, or that has none."""
    if outcome.effect is None:
        return plain.Confirmation("no script", outcome.reproducer.reason)
    verdict, what = VERDICTS[outcome.effect]
    ends = "; ".join(f"{ranks}: {end}" for ranks, end in outcome.ends)
    reasons = {"hang": ends, "fail": f"{what}; {ends}"}
    return plain.Confirmation(verdict, reasons.get(outcome.effect, what))
