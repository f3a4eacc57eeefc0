"""Results of earlier runs, each good for as long as all that it rests on is as it was.

A result rests on the settings, on this program, on the content of the file, on every module that
was read on the way from it, and on where its imports led, or did not. Modules are kept as *nodes*:
a file in one state, with what it imports. A result names the nodes that can be reached from it, as
the bits of a number, so that the same few nodes serve all results. There is one file for each
configuration; it is replaced whole, and whatever is wrong with it, the run goes on without it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import cast

from distlint import __version__
from distlint.analyzer.project.importers import Importers
from distlint.analyzer.project.module_search import LARGE, Finder, content_of, state_of
from distlint.engine.cache_folder import DAY, DAYS_KEPT, FOLDER, evict, stamp, write
from distlint.engine.cache_format import DAMAGE, Entry, Node, load, text_of
from distlint.engine.cache_identity import identity
from distlint.engine.discovery import Target
from distlint.engine.errors import ConfigError
from distlint.engine.lookups import Key, Lookups
from distlint.engine.results import FileResult
from distlint.engine.settings import Resolver, Settings
from distlint.source.document import digest
from distlint.source.exchange import made, plain


class Cache:
    """The results for all files of a run."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._surroundings = _Surroundings(resolver)
        self._stores: dict[Key, _Store] = {}

    def recall(self, target: Target) -> FileResult | None:
        """What is known about a file, if that still holds."""
        settings = self.resolver.of_file(target.path)
        if settings.rule_packages:  # what is installed may change under the same name
            return None
        return self._store(settings).recall(target.path, settings)

    def keep(self, result: FileResult) -> None:
        """A file has been analysed; it is kept when all ``lookups`` are known, with ``save``."""
        if result.content and not any(notice.kind == "failed" for notice in result.notices):
            self._store(self.resolver.of_file(result.path)).results[str(result.path)] = result

    def learn(self, lookups: Mapping[Key, Lookups]) -> None:
        """What the projects of the run have read and looked up."""
        for key, found in lookups.items():
            if key in self._stores:
                self._stores[key].lookups.add(found)

    def save(self) -> None:
        """Write what is new; where that is not possible, there is no cache."""
        for store in self._stores.values():
            store.save()
        for folder in {store.file.parent.parent for store in self._stores.values()}:
            evict(folder)

    def _store(self, settings: Settings) -> _Store:
        key = (settings.config, settings.root)
        if key not in self._stores:
            self._stores[key] = _Store(settings, self._surroundings)
        return self._stores[key]


class _Surroundings:
    """The files and settings of this run as nodes compare them, each looked at once."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self._elsewhere = Resolver(resolver.overrides, resolver.cwd, resolver.announce)
        self._elsewhere.named = resolver.named
        self._states: dict[str, str] = {}
        self._settings: dict[str, str] = {}
        self._identities: dict[int, tuple[Settings, str]] = {}

    def content(self, path: Path, limit: int) -> str | None:
        """A digest of a file to check, or None if it cannot be read or is too large."""
        try:
            data = path.read_bytes()
        except (OSError, ValueError):
            return None
        self._states.setdefault(str(path), state_of(data))
        return None if limit and len(data) > limit else digest(data)

    def state(self, path: str) -> str:
        found = self._states.get(path)
        if found is None:
            found = self._states[path] = content_of(path)[0]
        return found

    def identity(self, settings: Settings) -> str:
        """What tells settings apart, contents of the files that they name included."""
        found = self._identities.get(id(settings))
        if found is None:
            found = self._identities[id(settings)] = (settings, identity(settings))
        return found[1]

    def settings_at(self, path: str) -> str:
        """Those that hold for a file, which need not be one of the run's own."""
        folder = os.path.dirname(path)
        found = self._settings.get(folder)
        if found is None:
            where = Path(folder)
            resolver = self.resolver if self.resolver.knows(where) else self._elsewhere
            try:
                found = self.identity(resolver.of_folder(where))
            except ConfigError:
                found = "unusable"
            self._settings[folder] = found
        return found


class _Store:
    """The results of one configuration."""

    def __init__(self, settings: Settings, surroundings: _Surroundings) -> None:
        self.root = settings.root
        self.surroundings = surroundings
        self.identity = surroundings.identity(settings)
        folder = settings.cache_dir or settings.root / FOLDER
        self.file = folder / __version__ / f"{self.identity}.cache"
        self.results: dict[str, FileResult] = {}
        self.lookups = Lookups()
        self._finder = Finder(settings.root, settings.src)
        self._importers = Importers(settings.root, self._finder, {})
        self._stamp = stamp(self.file)
        self._nodes, self._entries = load(self.file, self.identity)
        self._good = self._bad = 0
        self._today = int(time.time() // DAY)
        self._used: set[str] = set()

    def recall(self, path: Path, settings: Settings) -> FileResult | None:
        content = self.surroundings.content(path, settings.max_file_size)
        entry = self._entries.get(str(path))
        if content is None or entry is None or entry.content != content:
            return None
        if not self._holds(entry.needs):
            return None
        result = self._made(path, entry)
        if result is None or not all(asked.holds for asked in result.asked):
            return None
        self._used.add(str(path))
        return result

    def _made(self, path: Path, entry: Entry) -> FileResult | None:
        content = {"path": str(path), "content": entry.content, **entry.result}
        try:
            return cast(FileResult, made(FileResult, content, self.root))
        except DAMAGE:
            return None

    def _holds(self, needs: int) -> bool:
        """Are all these nodes as they were?"""
        for index in _bits(needs & ~(self._good | self._bad)):
            if index < len(self._nodes) and self._is_same(self._nodes[index]):
                self._good |= 1 << index
            else:
                self._bad |= 1 << index
                break
        return needs & self._bad == 0

    def _is_same(self, node: Node) -> bool:
        if node.importers is not None:
            return _mark(self._importers.of(Path(node.path))) == node.importers
        if node.state is not None and self.surroundings.state(node.path) != node.state:
            return False
        if self._settings_at(node.path) != node.settings:
            return False
        return all(self._finder.find(name, node.path) == answer for name, answer in node.answers)

    def _settings_at(self, path: str) -> str:
        found = self.surroundings.settings_at(path)
        return "" if found == self.identity else found

    # ---- writing

    def save(self) -> None:
        is_old = self._stamp is not None and time.time() - self._stamp[0] / 1e9 > DAY
        if not self.results and not (is_old and self._used):
            return
        self._adopt_results()
        for path in self._used:
            self._entries[path].seen = self._today
        if stamp(self.file) != self._stamp:  # another run has been here
            self._adopt_others()
        self._drop_old()
        self._drop_nodes()
        write(self.file, text_of(self.identity, self._nodes, self._entries))

    def _adopt_results(self) -> None:
        """Make entries of what was analysed in this run."""
        paths, reached = _reached(self.lookups)
        asked = sorted(self.lookups.imported_by)
        known = [self._node(path) for path in paths]
        ids = self._numbered([*known, *map(self._importers_node, asked)])
        told = {path: 1 << number for number, path in enumerate(asked, len(paths))}
        at = {path: number for number, path in enumerate(paths)}
        changed = sum(1 << at[path] for path in self.lookups.changed)
        for path, result in self.results.items():
            needs = reached[at[path]] if path in at else 0
            for leading in _leading(self.lookups, path) if path in self.lookups.led else ():
                needs |= reached[at[leading]] if leading in at else 0
                needs |= told.get(leading, 0)
            read = self.lookups.contents.get(path, result.content)
            if needs & changed or read not in (result.content, LARGE):
                self._entries.pop(path, None)  # it was written to while we were at work
                continue
            content = {
                each.name: plain(getattr(result, each.name), self.root)
                for each in fields(result)
                if each.name not in ("path", "content")
                and getattr(result, each.name) != each.default
            }
            entry = Entry(result.content, _moved(needs, ids), self._today, content)
            self._entries[path] = entry
            self._used.add(path)

    def _node(self, path: str) -> Node:
        answers = tuple(sorted(self.lookups.answers.get(path, {}).items()))
        return Node(path, self.lookups.contents.get(path), self._settings_at(path), answers)

    def _importers_node(self, path: str) -> Node:
        return Node(path, None, "", (), _mark(self.lookups.imported_by[path]))

    def _numbered(self, nodes: Iterable[Node]) -> list[int]:
        """The numbers of nodes, new ones put behind the others."""
        known = {node: number for number, node in enumerate(self._nodes)}
        numbers = [known.setdefault(node, len(known)) for node in nodes]
        self._nodes = list(known)
        return numbers

    def _adopt_others(self) -> None:
        """Take over what another run has written since this one has read the file."""
        nodes, entries = load(self.file, self.identity)
        ids = self._numbered(nodes)
        for path, entry in entries.items():
            if path not in self._used:
                entry.needs = _moved(entry.needs, ids)
                self._entries[path] = entry

    def _drop_old(self) -> None:
        for path, entry in list(self._entries.items()):
            is_old = entry.seen < self._today - DAYS_KEPT
            if path not in self._used and (is_old or not os.path.exists(path)):
                del self._entries[path]

    def _drop_nodes(self) -> None:
        """Leave out nodes without use, once they are many."""
        live = 0
        for entry in self._entries.values():
            live |= entry.needs
        if live.bit_count() * 2 >= len(self._nodes):
            return
        kept = list(_bits(live))
        ids = dict(zip(kept, range(len(kept)), strict=True))
        self._nodes = [self._nodes[number] for number in kept]
        for entry in self._entries.values():
            entry.needs = _moved(entry.needs, ids)


def _reached(lookups: Lookups) -> tuple[list[str], list[int]]:
    """The files that were read or looked from, and for each those that lead on from it, as bits."""
    paths = sorted(lookups.answers.keys() | lookups.contents.keys())
    at = {path: number for number, path in enumerate(paths)}
    onward = [
        [at[found] for found in lookups.answers.get(path, {}).values() if found in at]
        for path in paths
    ]
    reached = [1 << number for number in range(len(paths))]
    is_new = True
    while is_new:
        is_new = False
        for number, others in enumerate(onward):
            before = after = reached[number]
            for other in others:
                after |= reached[other]
            if after != before:
                reached[number] = after
                is_new = True
    return paths, reached


def _leading(lookups: Lookups, path: str) -> list[str]:
    """A file, and the files that lead to it by their imports, as far as that was asked."""
    found = {path: None}
    waiting = [path]
    while waiting:
        others = lookups.imported_by.get(waiting.pop(), {}).keys() - found.keys()
        found |= dict.fromkeys(others)
        waiting += others
    return list(found)


def _mark(importers: Mapping[str, frozenset[str]]) -> str:
    told = sorted((path, sorted(names)) for path, names in importers.items())
    return digest(repr(told).encode("utf-8", "surrogateescape"))


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _moved(bits: int, ids: Sequence[int] | Mapping[int, int]) -> int:
    """The same nodes under other numbers."""
    return sum(1 << ids[bit] for bit in _bits(bits))


# ---- the folder
