"""A file of findings that were there before: passed over until they are gone, and then named.

An entry holds the file, the code and the flagged source, so it survives lines that move and code
that is formatted anew. When the source is changed, the finding is a new one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace as changed
from pathlib import Path

from distlint.engine import writing
from distlint.engine.check import enabled
from distlint.engine.errors import ConfigError
from distlint.engine.settings import Resolver
from distlint.rules.table import SYNTAX_ERROR
from distlint.source.identity import flagged
from distlint.source.numbers import whole_number
from distlint.source.paths import STDIN, display
from distlint.source.report import Notice, Report, Reported

VERSION = 1
ABOUT = "Findings that distlint passes over. `distlint check --update-baseline` writes this file."
MOST_ALIKE = 100_000
"""Findings in one file that flag the same source."""
_SHOWN = 60

Key = tuple[str, str]
"""The code of a finding and the source that it flags."""

Entries = dict[Path, Counter[Key]]


def applied(report: Report, resolver: Resolver) -> Report:
    """The report without what the baselines of its files hold, and a notice for stale entries.

    Raises:
        ConfigError: if a baseline is missing or cannot be read.
    """
    for baseline in _in_force(report, resolver):
        report = _without(report, _read(baseline), baseline, resolver)
    return report


def update(report: Report, resolver: Resolver) -> dict[Path, int]:
    """Write the baselines anew; the result says how many findings each now holds.

    What was not looked at (other files, rules that are off) is left as it stands.

    Raises:
        ConfigError: if no baseline is named, or one cannot be read or written.
    """
    written = {}
    for baseline in _in_force(report, resolver):
        known = _read(baseline) if baseline.exists() else {}
        scope = _Scope(report, resolver, baseline)
        kept = {
            path: Counter({key: n for key, n in entries.items() if not scope(path, key)})
            for path, entries in known.items()
        }
        found: Entries = {}
        for item in report.reported:
            path = item.finding.place.path
            if _baseline_of(path, resolver) == baseline:
                found.setdefault(path, Counter())[_key(item)] += 1
        for path, counts in found.items():  # a file that is broken keeps what it had
            kept[path] = kept.get(path, Counter()) | counts
        _write(baseline, kept)
        written[baseline] = sum(entries.total() for entries in kept.values())
    if not written:
        raise ConfigError(
            "no baseline is named; use `--baseline FILE` or `baseline` in the configuration"
        )
    return written


def _in_force(report: Report, resolver: Resolver) -> list[Path]:
    files = {*report.files, *(item.finding.place.path for item in report.reported)}
    found = {_baseline_of(path, resolver) for path in files} | {resolver.overrides.baseline}
    return sorted(path for path in found if path is not None)


def _baseline_of(path: Path, resolver: Resolver) -> Path | None:
    return resolver.of_folder(resolver.cwd if path == STDIN else path.parent).baseline


def _without(report: Report, entries: Entries, baseline: Path, resolver: Resolver) -> Report:
    left = {path: Counter(counts) for path, counts in entries.items()}
    moved = _of_files_that_are_gone(left)
    new = []
    for item in report.reported:
        path, key = item.finding.place.path, _key(item)
        concerned = _baseline_of(path, resolver) == baseline
        known = left.get(path, moved)
        if not (concerned and _take(known, key)):
            new.append(item)
    scope = _Scope(report, resolver, baseline)
    stale: list[tuple[Path | None, Key, int]] = [
        (path, key, count)
        for path, counts in sorted(left.items())
        if os.path.exists(path)
        for key, count in sorted(counts.items())
        if count and scope(path, key)
    ]
    stale += [(None, key, count) for key, count in sorted(moved.items()) if count]
    return changed(
        report,
        reported=tuple(new),
        notices=(*report.notices, *_stale_notice(stale, baseline)),
        tolerated=report.tolerated + len(report.reported) - len(new),
    )


def _of_files_that_are_gone(entries: Entries) -> Counter[Key]:
    """Their findings may turn up under the file's new name."""
    found: Counter[Key] = Counter()
    for path, counts in entries.items():
        if not os.path.exists(path):
            found += counts
    return found


def _take(counts: Counter[Key], key: Key) -> bool:
    if not counts[key]:
        return False
    counts[key] -= 1
    return True


class _Scope:
    """Has a run looked for what an entry is about, so that it would have been found?"""

    def __init__(self, report: Report, resolver: Resolver, baseline: Path) -> None:
        broken = {f.place.path for f in report.findings if f.code == SYNTAX_ERROR}
        self.resolver = resolver
        self.files = {
            path
            for path in report.files
            if path not in broken and _baseline_of(path, resolver) == baseline
        }

    def __call__(self, path: Path, key: Key) -> bool:
        if not os.path.exists(path):
            return True
        code = key[0]
        return path in self.files and enabled(code, path, self.resolver.of_file(path))


def _key(item: Reported) -> Key:
    return item.finding.code, flagged(item)


def _stale_notice(
    stale: Iterable[tuple[Path | None, Key, int]], baseline: Path
) -> Iterator[Notice]:
    lines = [
        f"{display(path) if path else 'a file that is gone'}: {code} {_shortened(source)}"
        for path, (code, source), count in stale
        for _ in range(count)
    ]
    if lines:
        what = "1 entry is" if len(lines) == 1 else f"{len(lines)} entries are"
        message = f"{what} stale; --update-baseline removes what is fixed (--verbose lists it)"
        yield Notice("warning", message, baseline, "\n".join(lines))


def _shortened(source: str) -> str:
    return source if len(source) <= _SHOWN else f"{source[: _SHOWN - 3]}..."


def _read(baseline: Path) -> Entries:
    try:
        content = json.loads(baseline.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(
            f"{display(baseline)}: no such baseline; --update-baseline writes one"
        ) from None
    except OSError as error:
        raise ConfigError(f"{display(baseline)}: cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{display(baseline)}: is not a baseline: {error}") from None
    except (ValueError, RecursionError):
        why = "a number is too large or it is nested too deeply"
        raise ConfigError(f"{display(baseline)}: is not a baseline: {why}") from None
    try:
        if content["version"] != VERSION:
            raise ConfigError(f"{display(baseline)}: written by a later version of distlint")
        return _entries(content["findings"], baseline.parent)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ConfigError(f"{display(baseline)}: is not a baseline of distlint") from None


def _entries(findings: Mapping[str, Iterable[Mapping[str, object]]], folder: Path) -> Entries:
    found: Entries = {}
    for name, items in findings.items():
        counts = found.setdefault(Path(os.path.abspath(folder / name)), Counter())
        for item in items:
            count = whole_number(str(item.get("count", 1)))
            if count is None or not 0 < count <= MOST_ALIKE:
                raise ValueError(count)
            counts[str(item["code"]), str(item["source"])] += count
    return found


def _write(baseline: Path, entries: Entries) -> None:
    findings = {
        Path(os.path.relpath(path, baseline.parent)).as_posix(): [
            {"code": code, "source": source, **({"count": count} if count > 1 else {})}
            for (code, source), count in sorted(counts.items())
        ]
        for path, counts in sorted(entries.items())
        if counts
    }
    content = {"about": ABOUT, "version": VERSION, "findings": findings}
    text = json.dumps(content, indent=2) + "\n"
    try:
        old = baseline.read_bytes() if baseline.exists() else None
        baseline.parent.mkdir(parents=True, exist_ok=True)
        writing.replace(baseline, old, text.encode("utf-8"))
    except (OSError, writing.NotWritten) as error:
        raise ConfigError(f"{display(baseline)}: not written: {error}") from None
