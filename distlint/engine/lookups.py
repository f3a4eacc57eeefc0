"""What an analysis has read and looked up, as workers tell it to the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from distlint.analyzer.project.project import Project
    from distlint.engine.check import Session

T = TypeVar("T")
U = TypeVar("U")

Key = tuple[Path | None, Path]
"""What tells the configurations of a run apart: the file, and the project's folder."""


@dataclass(slots=True)
class Lookups:
    """What an analysis has read and looked up: answers by importer, states by file."""

    answers: dict[str, dict[str, str | None]] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    imported_by: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    """The files that import one, and what they take from it, where that was asked."""
    led: set[str] = field(default_factory=set)
    """Files whose findings rest on what imports them."""
    changed: set[str] = field(default_factory=set)
    """Files that were read in two states: nothing that rests on them is kept."""

    def add(self, other: Lookups) -> None:
        for importer, answers in other.answers.items():
            self.answers.setdefault(importer, {}).update(answers)
        self.imported_by.update(other.imported_by)
        self.led |= other.led
        self.changed |= other.changed
        for path, state in other.contents.items():
            if self.contents.setdefault(path, state) != state:
                self.changed.add(path)


class Reporter:
    """Tells what the projects of a session have looked up since it was asked last."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._told: dict[tuple[Key, Path | str | None], int] = {}

    def news(self) -> dict[Key, Lookups]:
        return {key: self._of(key, project) for key, project in self.session.projects.items()}

    def _of(self, key: Key, project: Project) -> Lookups:
        found = Lookups(changed=set(map(str, project.changed)), led=set(map(str, project.led)))
        for path, state in self._rest(key, None, project.contents):
            found.contents[str(path)] = state
        for path, importers in self._rest(key, "imported by", project.imported_by):
            found.imported_by[str(path)] = importers
        for importer, answers in project.answers.items():
            rest = list(self._rest(key, importer, answers))
            if rest:
                found.answers[str(importer)] = {
                    name: None if path is None else str(path) for name, path in rest
                }
        return found

    def _rest(self, key: Key, what: Path | str | None, table: dict[T, U]) -> Iterator[tuple[T, U]]:
        """The items that have come to a table, which only grows."""
        told = self._told.get((key, what), 0)
        self._told[key, what] = len(table)
        return islice(table.items(), told, None)
