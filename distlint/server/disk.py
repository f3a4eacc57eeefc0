"""What a session has read from the disk, for editors that do not report when it changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from distlint.analyzer.project.importers import Importers
from distlint.analyzer.project.module_search import Finder, content_of
from distlint.engine.lookups import Key

if TYPE_CHECKING:
    from distlint.analyzer.project.project import Project
    from distlint.engine.check import Session
    from distlint.source.document import Document

Stamp = tuple[int, int] | None

_OTHER = (0, 0)


class Disk:
    """The files and folders that a session has read, as they were then.

    ``buffers`` are the files that are read from the editor instead.
    """

    def __init__(self, buffers: Mapping[Path, Document]) -> None:
        self._buffers = buffers
        self._files: dict[Path, Stamp] = {}
        self._folders: dict[Path, Stamp] = {}
        self._is_new = False
        self._answers: dict[Key, dict[tuple[str, Path], Path | None]] = {}
        """Where imports led; a project forgets those of a file that is edited."""
        self._imported_by: dict[Key, dict[Path, dict[str, frozenset[str]]]] = {}
        """By which files others were imported."""

    def look_at(self, session: Session) -> None:
        """Take note of what was read since the last time."""
        for key, project in session.projects.items():
            known = self._answers.setdefault(key, {})
            for importer, answers in project.answers.items():
                known |= {(name, importer): answer for name, answer in answers.items()}
            for path, state in project.contents.items():
                if path not in self._files and path not in self._buffers:
                    before = stamp(path)
                    is_same = content_of(path)[0] == state  # and was not written to meanwhile
                    self._files[path] = before if is_same else _OTHER
            self._imported_by.setdefault(key, {}).update(project.imported_by)
            self._note(project.folders)

    def _note(self, folders: Iterable[Path]) -> None:
        for folder in folders:
            if folder not in self._folders:
                self._folders[folder] = stamp(folder)
                self._is_new = True

    def changed(self) -> list[Path]:
        """The files that are not as they were; each is reported once."""
        outdated = [path for path, before in self._files.items() if stamp(path) != before]
        for path in outdated:
            del self._files[path]
        return [path for path in outdated if path not in self._buffers]

    def leads_elsewhere(self, session: Session) -> bool:
        """Do imports lead to other files than they did, as some have come or gone?"""
        now = {folder: stamp(folder) for folder in self._folders}
        if now == self._folders and not self._is_new:
            return False
        self._folders, self._is_new = now, False
        return any(self._is_other(key, project) for key, project in session.projects.items())

    def _is_other(self, key: Key, project: Project) -> bool:
        finder = Finder(project.root, project.src, self._buffers)
        if any(
            finder.find(name, str(importer)) != (None if answer is None else str(answer))
            for (name, importer), answer in self._answers.get(key, {}).items()
        ):
            return True
        importers = Importers(project.root, finder, self._buffers)
        return any(
            importers.of(path) != known for path, known in self._imported_by.get(key, {}).items()
        )


def stamp(path: Path) -> Stamp:
    """When a file or a folder was written, and its size; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
