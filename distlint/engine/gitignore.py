"""What git would ignore: the ``.gitignore`` files from the repository's top down to a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathspec


@dataclass(frozen=True, slots=True)
class Ignored:
    """The ignore files in force, the nearest last; it has the first word."""

    files: tuple[tuple[Path, pathspec.GitIgnoreSpec], ...]

    @classmethod
    def above(cls, root: Path) -> Ignored:
        """What holds in a folder by the files above it, unless they ignore that very folder."""
        top = next((f for f in (root, *root.parents) if os.path.exists(f / ".git")), root)
        found: list[tuple[Path, pathspec.GitIgnoreSpec]] = []
        folders = [f for f in (root, *root.parents) if f == top or top in f.parents]
        for folder in reversed(folders):
            names = [folder / ".git" / "info" / "exclude"] if folder == top else []
            if folder != root:
                names.append(folder / ".gitignore")
            for name in names:
                spec = _read(name)
                if spec is not None:
                    found.append((folder, spec))
        ignored = cls(tuple(found))
        return cls(()) if root != top and ignored.covers(root, folder=True) else ignored

    def within(self, folder: Path) -> Ignored:
        """The same with the ``.gitignore`` of a folder that is being entered."""
        spec = _read(folder / ".gitignore")
        return self if spec is None else Ignored((*self.files, (folder, spec)))

    def covers(self, path: Path, folder: bool) -> bool:
        for base, spec in reversed(self.files):
            relative = os.fspath(path.relative_to(base))
            verdict = spec.check_file(f"{relative}/" if folder else relative).include
            if verdict is not None:
                return verdict
        return False


def _read(file: Path) -> pathspec.GitIgnoreSpec | None:
    try:
        lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    if all(not line.strip() or line.startswith("#") for line in lines):
        return None
    import pathspec

    try:
        return pathspec.GitIgnoreSpec.from_lines(lines)
    except ValueError:  # git passes over a line that it cannot understand
        return pathspec.GitIgnoreSpec.from_lines(filter(_is_pattern, lines))


def _is_pattern(line: str) -> bool:
    import pathspec

    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
