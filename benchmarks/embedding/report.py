"""Lay out what survived."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from benchmarks.embedding.embed import Key, Outcome
from benchmarks.embedding.lines import Line
from distlint.source.finding import Severity


def row_of(outcome: Outcome) -> dict[str, object]:
    """An outcome as JSON has it."""
    case = outcome.case
    return {
        "example": case.source.name,
        "good": case.source.good,
        "skeleton": case.skeleton,
        "features": list(case.features),
        "style": case.style,
        "place": case.place,
        "renamed": case.renamed,
        "expected": sorted(f"{code} row {row}" for code, row in outcome.expected),
        "missed": [f"{code} row {row}" for code, row in outcome.missed],
        "weaker": sorted(f"{code} row {row}" for code, row in outcome.weaker),
        "alarms": [f"{code} row {row} {severity}" for code, row, severity in outcome.alarms],
        "hiding": None if outcome.hiding is None else list(outcome.hiding),
        "over_budget": outcome.over_budget,
    }


def text_of(lines: Iterable[Line]) -> str:
    return "\n".join(line.text for line in lines) + "\n"


def table(outcomes: Sequence[Outcome], left: Counter[str]) -> str:
    """The share that survives: of all, by family, skeleton, feature, and how it was put in."""
    parts = [
        "| findings | embedded | survived | share |\n| --- | ---: | ---: | ---: |",
        _line("errors and warnings", _counted(outcomes, _heavy)),
        _line("information", _counted(outcomes, lambda severity: not _heavy(severity))),
    ]
    by: list[tuple[str, Callable[[Outcome, Key], Iterable[str]]]] = [
        ("family", lambda _, key: [f"{key[0][:4]}xx"]),
        ("skeleton", lambda outcome, _: [outcome.case.skeleton]),
        ("style", lambda outcome, _: [outcome.case.style]),
        ("place", lambda outcome, _: [outcome.case.place]),
        ("names", lambda outcome, _: ["others" if outcome.case.renamed else "its own"]),
        ("feature", lambda outcome, _: outcome.case.features or ["none"]),
    ]
    for title, groups in by:
        parts.append(f"\n| {title} | embedded | survived | share |\n| --- | ---: | ---: | ---: |")
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for outcome in outcomes:
            for key, severity in outcome.expected.items():
                if _heavy(severity):
                    for group in groups(outcome, key):
                        counts[group][0] += 1
                        counts[group][1] += key in outcome.survived
        parts += [_line(group, (all_, kept)) for group, (all_, kept) in sorted(counts.items())]
    good = [each for each in outcomes if each.case.source.good]
    alarms = sum(bool(each.alarms) for each in good)
    parts.append(f"\nfalse alarms: {alarms} of {len(good)} good examples embedded")
    weaker = sum(len(each.weaker) for each in outcomes)
    parts.append(f"survived as information only: {weaker}")
    over = sum(bool(each.over_budget) for each in outcomes)
    parts.append(f"programs with an entry point over budget: {over} of {len(outcomes)}")
    parts.append("not embedded:")
    parts += [f"  {count:4} {reason}" for reason, count in sorted(left.items())]
    return "\n".join(parts)


def _heavy(severity: Severity) -> bool:
    return severity.weight >= Severity.WARNING.weight


def _counted(outcomes: Iterable[Outcome], wanted: Callable[[Severity], bool]) -> tuple[int, int]:
    keys = [
        (key in outcome.survived)
        for outcome in outcomes
        for key, severity in outcome.expected.items()
        if wanted(severity)
    ]
    return len(keys), sum(keys)


def _line(name: str, counts: tuple[int, int]) -> str:
    every, kept = counts
    share = f"{kept / every:.1%}" if every else ""
    return f"| {name} | {every} | {kept} | {share} |"
