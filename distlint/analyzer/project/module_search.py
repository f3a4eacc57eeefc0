"""Where imports lead: the files of the project that a dotted name stands for.

What is there is read folder by folder, as Python itself does it, and once in the life of a finder.
Frameworks that the catalogue describes in full are looked into from inside of them only.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from distlint.catalogue.shipped import seals
from distlint.source.document import digest

MAX_IMPORTED_SIZE = 1_000_000
"""An imported module larger than this (bytes) is not followed."""

LARGE = "large"
UNREADABLE = "unreadable"


def content_of(path: str | Path) -> tuple[str, bytes | None]:
    """The state of a file that is imported, and what is in it if that is to be read."""
    try:
        if os.stat(path).st_size > MAX_IMPORTED_SIZE:
            return LARGE, None
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError):
        return UNREADABLE, None
    return state_of(data), data


def state_of(data: bytes) -> str:
    """What has to be the same for a module to be the same: its content, or that it is too large."""
    return LARGE if len(data) > MAX_IMPORTED_SIZE else digest(data)


class Finder:
    """Looks up modules for the files of one project; paths are text, which is quicker.

    Args:
        root: the project's folder; imports are followed neither outside it nor outside ``src``.
        src: folders in which absolute imports are looked up, in order.
        buffers: files that count as there, on the disk or not.
    """

    def __init__(self, root: Path, src: Sequence[Path], buffers: Collection[Path] = ()) -> None:
        self.root = os.fspath(root)
        self.src = tuple(map(os.fspath, src))
        self.buffers = buffers
        self._found: dict[tuple[str, str], str | None] = {}
        self._folders: dict[str, dict[str, bool]] = {}

    @property
    def folders(self) -> Iterable[str]:
        """Every folder by whose contents imports led anywhere, or nowhere."""
        return self._folders

    def find(self, dotted: str, importer: str) -> str | None:
        """The file of a module named in an import, or None when it is not of this project."""
        folder = os.path.dirname(importer)
        if dotted.startswith("."):
            stripped = dotted.lstrip(".")
            for _ in range(len(dotted) - len(stripped) - 1):
                folder = os.path.dirname(folder)
            return self._below(folder, stripped) if stripped else self._package(folder)
        key = (folder, dotted)
        if key not in self._found:
            self._found[key] = self._search(dotted, folder)
        return self._found[key]

    def _search(self, dotted: str, folder: str) -> str | None:
        around = list(self._around(dotted.partition(".")[0], folder))
        for base in (*around, *self._folders_up(folder), *self.src):
            found = self._below(base, dotted)
            if found is not None:
                return None if self._is_sealed(base, dotted.partition(".")[0], folder) else found
        return None

    def _is_sealed(self, base: str, package: str, folder: str) -> bool:
        """Is it a framework whose sources are of no interest to code in a folder outside of it?

        What its names mean is in the catalogue, as for a script beside which it is installed.
        """
        seal = seals().get(package)
        if seal is None:
            return False
        within = os.path.join(base, package)
        entries = self._entries(within)
        if not all(entries.get(p) or self._is_file(within, f"{p}.py") for p in seal.parts):
            return False
        inside = os.path.join(folder, "")
        return not any(inside.startswith(os.path.join(base, each, "")) for each in seal.family)

    def _folders_up(self, folder: str) -> Iterator[str]:
        """The importer's folder and those above it, up to the project's root."""
        yield folder
        inside = os.path.join(self.root, "")
        while folder.startswith(inside) and folder != self.root:  # which may be "/"
            folder = os.path.dirname(folder)
            yield folder

    def _around(self, package: str, folder: str) -> Iterator[str]:
        """Where a package lies that the importer is in: what it names so is no module beside it."""
        for each in self._folders_up(folder):
            if os.path.basename(each) == package and each != self.root and self._package(each):
                yield os.path.dirname(each)

    def _below(self, base: str, dotted: str) -> str | None:
        *parents, name = dotted.split(".")
        for parent in parents:
            if not self._entries(base).get(parent):
                return None
            base = os.path.join(base, parent)
        if self._is_file(base, f"{name}.py"):
            return os.path.join(base, f"{name}.py")
        return self._package(os.path.join(base, name)) if self._entries(base).get(name) else None

    def _package(self, folder: str) -> str | None:
        return os.path.join(folder, "__init__.py") if self._is_file(folder, "__init__.py") else None

    def _is_file(self, folder: str, name: str) -> bool:
        if self._entries(folder).get(name) is False:
            return True
        return bool(self.buffers) and Path(folder, name) in self.buffers

    def _entries(self, folder: str) -> dict[str, bool]:
        """What in a folder can be imported, and whether it is a folder itself."""
        found = self._folders.get(folder)
        if found is None:
            found = self._folders[folder] = dict(_importable(folder))
        return found


def _importable(folder: str) -> Iterator[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                _, dot, suffix = entry.name.partition(".")
                if dot and suffix != "py":
                    continue
                try:
                    is_folder = entry.is_dir()
                    if is_folder != bool(dot) and (is_folder or entry.is_file()):
                        yield entry.name, is_folder
                except OSError:  # a link that leads nowhere
                    continue
    except (OSError, ValueError):
        return
