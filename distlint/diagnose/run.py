"""The door: read what the user named, decide, and ask the rules about the script."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from distlint.diagnose import recorder
from distlint.diagnose.diagnosis import Cause, Diagnosis, Doing
from distlint.diagnose.scan import Scanner
from distlint.diagnose.sources import Progress, find
from distlint.diagnose.verdict import judge
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver
from distlint.source.finding import Finding

_HANG_RULES = ("DST101", "DST102", "DST103", "DST104", "DST105", "DST109", "DST113")
_SIZE_RULES = ("DST106", "DST111", "DST201")


@dataclass(frozen=True)
class Checked:
    """What the rules say about the script: findings, those at the named lines first."""

    script: Path
    rules: tuple[str, ...]
    findings: tuple[tuple[Finding, bool], ...]


@dataclass(frozen=True)
class Answer:
    """All that is reported."""

    diagnosis: Diagnosis
    groups: tuple[recorder.Group, ...] = ()
    checked: Checked | None = None


def diagnose(
    paths: Sequence[Path],
    *,
    size: int = 0,
    script: Path | None = None,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Read logs and dumps, and say what happened.

    Args:
        paths: files, folders, or ``-``.
        size: the world size, 0 if it is not known.
        script: what the ranks ran; its findings of the rules in question are added.
        overrides: settings for the script, as of ``check``; which rules run is decided here.
        progress: told how far the reading is, in bytes.

    Raises:
        OSError: if a path does not exist.
        ConfigError: if a configuration cannot be used.
    """
    found = find(paths)
    dumps = [source for source in found.sources if recorder.is_dump(source)]
    logs = [source for source in found.sources if source not in dumps]
    scanner = Scanner()
    scanner.found.notes.extend(found.notes)
    if progress is not None:
        progress.start(sum(source.size for source in logs))
    for source in logs:
        scanner.read(source, progress)
    notes = scanner.found.notes
    groups = recorder.read_all(dumps, notes, script)
    told = max((max(group.ranks, default=-1) + 1 for group in groups), default=0)
    diagnosis = judge(scanner.found, size or told)
    diagnosis.names = tuple(source.name for source in found.sources)
    diagnosis = _with_dumps(diagnosis, groups)
    checked = _check(script, diagnosis, overrides) if script is not None else None
    return Answer(diagnosis, tuple(groups), checked)


def _with_dumps(diagnosis: Diagnosis, groups: Sequence[recorder.Group]) -> Diagnosis:
    """What dumps say about a hang is more exact than what logs do."""
    parted = next((group for group in groups if group.culprits), None)
    frames = [row.place for group in groups for row in group.rows if row.place is not None]
    diagnosis.frames = tuple(dict.fromkeys((*diagnosis.frames, *frames)))
    waits = diagnosis.cause is None or bool(diagnosis.waiting)
    if parted is None or not waits:
        return diagnosis
    rows = {row.rank: row for row in parted.rows}
    before = diagnosis.cause
    cause = Cause(
        "flight-recorder",
        f"in {parted.name}, {parted.verdict}",
        parted.culprits,
        "The ranks issued the same collectives up to this point, and then diverged.",
        "Find the condition that leads to the different lines in the table",
        before.quotes if before else (),
        rows[parted.culprits[0]].place,
        rules=_SIZE_RULES if _only_sizes_differ(parted) else _HANG_RULES,
        utilities=("any_rank", "watch"),
    )
    known = {each.rank: each for each in diagnosis.doing}
    doing = tuple(
        replace(known.get(rank, Doing(rank)), place=rows[rank].place, said=rows[rank].state)
        for rank in parted.culprits[:8]
    )
    diagnosis.cause, diagnosis.doing = cause, doing
    return diagnosis


def _only_sizes_differ(group: recorder.Group) -> bool:
    """Did all ranks issue the same operation, of different sizes?"""
    operations = {row.what.partition(" ")[0] for row in group.rows}
    return len(operations) == 1 and all(row.number == group.number for row in group.rows)


def named_rules(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Codes of the rules of this version that look for such causes."""
    from distlint.rules.registry import rules

    known = rules()
    return tuple(dict.fromkeys(code for code in _codes(diagnosis) if code in known))


def _codes(diagnosis: Diagnosis) -> Iterable[str]:
    if diagnosis.cause is not None:
        yield from diagnosis.cause.rules
        for each in diagnosis.also:
            yield from each.rules
        return
    for each in (*diagnosis.notices, *diagnosis.invented):
        if each.level == "warning" or not diagnosis.notices:
            yield from each.rules


def _check(script: Path, diagnosis: Diagnosis, overrides: Overrides | None) -> Checked:
    from distlint.engine.run import check_paths

    codes = named_rules(diagnosis)
    if not codes:
        return Checked(script, (), ())
    chosen = replace(overrides or Overrides(), layer=Layer(select=codes), preview=True)
    report = check_paths([script], Resolver(chosen))
    marked = [(finding, _at(finding, diagnosis)) for finding in report.findings]
    marked.sort(key=lambda item: (not item[1], item[0].sort_key))
    return Checked(script, codes, tuple(marked))


def _at(finding: Finding, diagnosis: Diagnosis) -> bool:
    """Does the finding speak of a line that the logs name?"""
    places = [finding.place, *(each.place for each in finding.related)]
    lines = {(os.path.basename(place.path), place.span.row) for place in places}
    return any((os.path.basename(f.file), f.line) in lines for f in diagnosis.frames)
