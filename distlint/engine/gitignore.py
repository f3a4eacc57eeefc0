"""What git would ignore: the ``.gitignore`` files from the repository's top down to a directory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from distlint.engine.wildmatch import Line, below, decided, lines_of

Lines = tuple[Line, ...]
"""The lines of an ignore file, the last first: it decides."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """The ignore files in force with their directories, the nearest last; it has the first word."""

    files: tuple[tuple[Path, Lines], ...] = ()

    @classmethod
    def above(cls, root: Path) -> Ignored:
        """What holds in a directory by the files above it, unless they ignore that directory."""
        top = next((each for each in (root, *root.parents) if os.path.exists(each / ".git")), root)
        found = cls()._and(top, _read(top / ".git" / "info" / "exclude"))
        between = [each for each in (root, *root.parents) if top in each.parents]
        for directory in reversed(between):
            found = found.within(directory.parent)
            if found.covers(directory, folder=True):
                return cls()
        return found

    def within(self, directory: Path) -> Ignored:
        """The same with the ``.gitignore`` of a directory that is being entered."""
        return self._and(directory, _read(directory / ".gitignore"))

    def _and(self, directory: Path, lines: Lines) -> Ignored:
        return Ignored((*self.files, (directory, lines))) if lines else self

    def covers(self, path: Path, folder: bool) -> bool:
        for base, lines in reversed(self.files):
            relative = below(path, base)
            verdict = decided(lines, relative, directory=folder) if relative else None
            if verdict is not None:
                return verdict
        return False


def _read(file: Path) -> Lines:
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ()
    return tuple(reversed(list(lines_of(text))))
