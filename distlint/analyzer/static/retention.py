"""Which modules a process keeps at hand, and letting go of the others.

What most of the last files have needed stays: a tree whose files import the same package would
else read that again each time that memory has filled up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from itertools import groupby
from pathlib import Path

from distlint.analyzer.project.project import Project
from distlint.analyzer.static.callgraph import CallGraph
from distlint.analyzer.static.effects import Common, Effects


def shrink(project: Project, limit: int) -> None:
    """Keep what the last files have needed, most of them first, and no more text than the limit.

    What one of them needs may be more than that: it is kept together.
    """
    needed = [_within(project, path) for path in project.checked]
    counts = Counter(path for paths in needed for path in paths)
    largest = max((_size(project, paths) for paths in needed), default=0)
    kept: set[Path] = set()
    # whatever a module imports is needed as often as that module, or more often
    for _, group in groupby(sorted(counts, key=lambda path: -counts[path]), counts.__getitem__):
        paths = set(group)
        if kept and _size(project, kept | paths) > max(limit, largest):
            break
        kept |= paths
    _drop(project, project.loaded - kept)


def _size(project: Project, paths: Set[Path]) -> int:
    return sum(project.sizes[path] for path in paths & project.sizes.keys())


def _within(project: Project, path: Path) -> set[Path]:
    """A file and all that it imports, near or far, as far as anybody has asked."""
    found = {path}
    queue = [path]
    while queue:
        answers = project.answers.get(queue.pop(), {}).values()
        new = {answer for answer in answers if answer is not None} - found
        found |= new
        queue += new
    return found


def _drop(project: Project, paths: Set[Path]) -> None:
    project.drop(paths)
    keys = frozenset(map(str, paths))
    for found in project.memo.values():
        if isinstance(found, (CallGraph, Common, Effects)):
            found.forget(keys)
