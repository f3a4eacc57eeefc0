"""What makes a finding the same one in another version of its file: not the row it stands on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from distlint.source.report import Reported


def flagged(item: Reported) -> str:
    """The code that a finding points at, with every run of white space as one space.

    So a finding stays itself when lines above it come or go and when its own line is indented
    or broken up anew.
    """
    if item.frame is None:
        return ""
    span = item.finding.place.span
    offset = span.row - item.frame.first_row
    lines = list(item.frame.lines[offset : offset + span.end_row - span.row + 1])
    if not lines:
        return ""
    if len(lines) == span.end_row - span.row + 1:
        lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return " ".join(" ".join(lines).split())


def fingerprints(items: Iterable[Reported], name: Callable[[Path], str]) -> list[str]:
    """An identifier for each finding, unique among them; ``name`` says what a file is called."""
    import hashlib  # 5 ms, for formats that few runs ask for

    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for item in items:
        key = (name(item.finding.place.path), item.finding.code, flagged(item))
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        found.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return found
