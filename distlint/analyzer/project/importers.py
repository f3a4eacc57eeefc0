"""Which files of a project import a file: the imports of all its files, by their text.

They are read once, and no file is parsed for them. What looks like an import in a string may be
among them: whoever asks looks at what the importing module binds.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from distlint.analyzer.project.module_search import MAX_IMPORTED_SIZE, Finder
from distlint.source.document import Document

MOST_FILES = 5_000
"""In a project of more files, the importers of a file are not known."""

_NOT_OF_PROJECT = frozenset({"site-packages", "node_modules", "__pycache__", "venv", "env"})
_PART_OF_NAME = re.compile(rb"[A-Za-z_]\w*")
_IMPORT = re.compile(
    rb"(?m)^[ \t]*(?:from[ \t]+(?P<source>[\w.]+)[ \t]+import[ \t]*"
    rb"(?:\((?P<several>[^)]*)\)|(?P<names>(?:\\\r?\n|[^\n#;])*))"
    rb"|import[ \t]+(?P<modules>(?:\\\r?\n|[^\n#;])*))"
)

Named = tuple[str, str]
"""A module as an import names it, and what it takes from it, if anything."""

_PYTHON = frozenset(sys.stdlib_module_names)


class Importers:
    """The imports of a project's files, read when they are first asked for.

    Args:
        root: the folder of the project; nothing outside of it is looked at.
        finder: tells where imports lead.
        buffers: what is read in place of the disk.
    """

    def __init__(self, root: Path, finder: Finder, buffers: Mapping[Path, Document]) -> None:
        self.root = os.fspath(root)
        self.finder = finder
        self.buffers = buffers
        self._named: dict[str, tuple[Named, ...]] | None = None
        self._by_word: dict[str, set[str]] = {}
        self._modules: dict[str, tuple[str, ...]] = {}

    def of(self, path: Path) -> dict[str, frozenset[str]]:
        """The files that import a file, in order, and the names that they take from it.

        A file that imports the module itself, or all its names, takes ``""``.
        """
        wanted = os.fspath(path)
        word = path.parent.name if path.name == "__init__.py" else path.stem
        named = self._all()
        found: dict[str, frozenset[str]] = {}
        for each in sorted(self._by_word.get(word, set()) - {wanted}):
            if self.is_test(each):
                continue
            taken = (self._taken(name, each, wanted) for name in named[each])
            names = frozenset(name for name in taken if name is not None)
            if names:
                found[each] = names
        return found

    def named_by(self, path: Path) -> tuple[str, ...]:
        """What a file imports, by the dotted names that may be modules."""
        key = os.fspath(path)
        known = self._modules.get(key)
        if known is None:
            named = (self._named or {}).get(key)
            if named is None:
                named = tuple(_imports(self._content(key) or b""))
            known = tuple(dict.fromkeys(each for pair in named for each in _modules_in(*pair)))
            self._modules[key] = known
        return known

    def forget(self, path: Path) -> None:
        """A file has changed, has come or gone."""
        key = os.fspath(path)
        self._modules.pop(key, None)
        if self._named is None:
            return
        for files in self._by_word.values():
            files.discard(key)
        self._named.pop(key, None)
        if path.suffix == ".py" and key.startswith(os.path.join(self.root, "")):
            self._add(key)

    def _all(self) -> Mapping[str, tuple[Named, ...]]:
        if self._named is None:
            self._named = {}
            files = set(_scripts_below(self.root))
            inside = os.path.join(self.root, "")
            files |= {p for p in map(os.fspath, self.buffers) if p.startswith(inside)}
            for each in sorted(files) if len(files) <= MOST_FILES else ():
                self._add(each)
        return self._named

    def _add(self, path: str) -> None:
        data = self._content(path)
        if data is None or self._named is None:
            return
        found = tuple(dict.fromkeys(_imports(data)))
        self._named[path] = found
        for dotted, name in found:
            for word in (*dotted.split("."), name):
                if word:
                    self._by_word.setdefault(word, set()).add(path)
            if dotted.strip(".") == "":  # ``from . import x`` names no package
                self._by_word.setdefault(_folder_up(path, len(dotted)), set()).add(path)

    def _content(self, path: str) -> bytes | None:
        buffer = self.buffers.get(Path(path)) if self.buffers else None
        if buffer is not None:
            return buffer.data
        try:
            if os.stat(path).st_size > MAX_IMPORTED_SIZE:
                return None
            with open(path, "rb") as file:
                return file.read()
        except (OSError, ValueError):
            return None

    def is_test(self, path: Path | str) -> bool:
        """Is a file a test, whose processes say nothing about other runs?"""
        *folders, name = os.path.relpath(path, self.root).split(os.sep)
        if name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py":
            return True
        return not {"test", "tests"}.isdisjoint(folders)

    def _taken(self, named: Named, importer: str, wanted: str) -> str | None:
        """What an import takes from a file, if it leads there."""
        dotted, name = named
        found = self.finder.find(dotted, importer)
        if found == wanted:
            return name
        if found is None:  # perhaps a folder without an ``__init__``
            last = _modules_in(dotted, name)[-1]
            return "" if name and self.finder.find(last, importer) == wanted else None
        is_below = name and os.path.basename(found) == "__init__.py"
        return "" if is_below and self.finder.find(f".{name}", found) == wanted else None


def _modules_in(dotted: str, name: str) -> list[str]:
    """What may be a module of ``from dotted import name``."""
    return [dotted, f"{dotted}{'' if dotted.endswith('.') else '.'}{name}"] if name else [dotted]


def _folder_up(path: str, levels: int) -> str:
    """The name of a folder above a file."""
    for _ in range(levels):
        path = os.path.dirname(path)
    return os.path.basename(path)


def imports_beyond_python(data: bytes) -> bool:
    """Does a text import anything but modules of Python's own?"""
    return any(dotted.partition(".")[0] not in _PYTHON for dotted, _ in _imports(data))


def _imports(data: bytes) -> Iterator[Named]:
    """What the imports in a text name: a module and a name in it, or a module alone."""
    for match in _IMPORT.finditer(data):
        modules = match["modules"]
        if modules is not None:
            for part in modules.split(b","):
                words = part.split()
                if words:
                    yield words[0].decode("ascii", "ignore"), ""
            continue
        source = match["source"].decode("ascii", "ignore")
        names = match["several"] if match["several"] is not None else match["names"]
        if b"*" in names:
            yield source, ""
        for line in names.split(b"\n"):
            for part in line.split(b"#")[0].split(b","):
                name = _PART_OF_NAME.search(part)
                if name is not None:
                    yield source, name[0].decode()


def _scripts_below(root: str) -> Iterator[str]:
    """The Python files of a project; what is hidden or installed is none of it."""
    pending, count = [root], 0
    while pending and count <= MOST_FILES:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or entry.name in _NOT_OF_PROJECT:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.name.endswith(".py"):
                        count += 1
                        yield entry.path
        except OSError:
            continue
