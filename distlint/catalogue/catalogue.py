"""What distributed frameworks mean, read from TOML files and looked up by dotted name."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

from distlint.catalogue import RUNTIME
from distlint.catalogue.entries import (
    ALIKE,
    IMPLIED_TAGS,
    Agreement,
    Argument,
    ClassInfo,
    Collective,
    Entry,
    First,
    GroupSource,
    Guard,
    LocalSource,
    Neutral,
    RankSource,
    Retired,
    Returns,
    Row,
    Seed,
    UniformSource,
    Write,
)
from distlint.catalogue.schema import FILE_KEYS, TABLES, CatalogueError, nearest, parse_row
from distlint.catalogue.shipped import FRAMEWORKS, HEAD_KEYS, frameworks
from distlint.catalogue.writes import Writes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "IMPLIED_TAGS",
    "Agreement",
    "Argument",
    "Catalogue",
    "CatalogueError",
    "ClassInfo",
    "Collective",
    "Entry",
    "First",
    "GroupSource",
    "Guard",
    "LocalSource",
    "Neutral",
    "RankSource",
    "Retired",
    "Returns",
    "Row",
    "Seed",
    "UniformSource",
    "Write",
    "frameworks",
]

ALWAYS = ("python", "torch")
USER = "user"

# A name answers one question about its value and one about its communication: the later row wins.
_RIVALS: Mapping[str, Mapping[str, Row | None]] = {
    facet: dict.fromkeys(rivals)
    for rivals in (("rank", "uniform", "local"), ("collective", "neutral"))
    for facet in rivals
}
_UNDOTTED = ("env", "name")
_JOINING_KINDS = ("init", "barrier", "wrap")
_SPECIAL_METHODS = ("__call__", "__iter__", "__enter__", "__exit__", "__init__")


@lru_cache(maxsize=64)
def _shipped(name: str) -> Mapping[str, object]:
    return _read(FRAMEWORKS / f"{name}.toml")


def _read(path: Path) -> Mapping[str, object]:
    try:
        content: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CatalogueError(f"{path}: cannot read file: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CatalogueError(f"{path}: invalid TOML: {error}") from error
    return content


class Catalogue:
    """The entries that matter for a set of files; immutable once loaded."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._env: dict[str, Entry] = {}
        self._bare_names: dict[str, Entry] = {}
        self._aliases: dict[str, str] = {}
        self._families: dict[str, ClassInfo] = {}
        self._hints: dict[str, str] = {}
        self._telltales: dict[str, str] = {}
        self._retired: dict[str, Retired] = {}
        self._found: dict[str, Entry | None] = {}
        self._ancestries: dict[str, tuple[str, ...]] = {}
        self._telling: frozenset[str] = frozenset()
        """Owners of names that meet other ranks, or tell them apart: classes, and modules."""
        self.writes = Writes()
        self.files: tuple[str, ...] = ()
        self.own_packages: frozenset[str] = frozenset()
        """Import roots that entries of the user's own speak about."""
        self.runtime = RUNTIME
        """The module that fixes import from."""
        self.event_names: frozenset[str] = frozenset()
        self.event_packages: frozenset[str] = frozenset()
        self.event_hints: frozenset[str] = frozenset()
        """Those of them that variables go by: what is called so communicates when it is run."""
        self.starting_names: frozenset[str] = frozenset()
        """Those that make the processes a group."""
        self.joining_names: frozenset[str] = frozenset()
        """Those that only a process of a group calls: it is set up, waits or wraps a model."""
        self.rank_names: frozenset[str] = frozenset()
        self.local_names: frozenset[str] = frozenset()
        self.steady_names: frozenset[str] = frozenset()
        """Those of the local names that are no random numbers."""
        self.seeding: Mapping[str, frozenset[str]] = {}
        """The streams that functions of a name seed."""
        self.handling: frozenset[str] = frozenset()
        """Functions that are given handlers of signals."""
        self.batch_params: frozenset[str] = frozenset()
        """Parameters of overridden methods that hold the batch of this rank."""
        self.known_names: frozenset[str] = frozenset()
        """Functions, classes and methods of which something is known."""

    @classmethod
    def load(
        cls,
        roots: Collection[str],
        extra: Sequence[Path | Mapping[str, object]] = (),
        *,
        runtime: str = RUNTIME,
        with_weak: bool = True,
    ) -> Catalogue:
        """The shipped files that ``roots`` (imported modules) call for, then the user's own.

        ``runtime`` is the module that goes for ``distlint.runtime``, such as a vendored one.
        Without ``with_weak``, what differs between ranks in rare set-ups only (a file that exists
        on one node) counts as the same on all ranks.
        """
        catalogue = cls()
        wanted = {root.partition(".")[0] for root in roots}
        if runtime != RUNTIME:
            catalogue.runtime = runtime
            catalogue._aliases[runtime] = RUNTIME
            wanted.add("distlint")
        shipped = frameworks()
        queue = [
            name
            for name, modules in shipped.items()
            if name in ALWAYS or not wanted.isdisjoint(modules)
        ]
        for name in queue:  # grows while it is walked: a file may need others
            content = _shipped(name)
            source = f"{name}.toml"
            for needed in _strings(content, "needs", source):
                if needed not in shipped:
                    hint = nearest(needed, shipped)
                    raise CatalogueError(f"{source}: unknown file {needed!r} in 'needs'; {hint}")
                if needed not in queue:
                    queue.append(needed)
            catalogue._add(content, source, name)
        for own in extra:
            if isinstance(own, Mapping):
                catalogue._add(own, "[tool.distlint]", USER, partial=True)
            else:
                catalogue._add(_read(own), str(own), USER)
        catalogue.files = tuple(queue)
        if not with_weak:
            catalogue._forget_weak()
        catalogue._index()
        return catalogue

    def _forget_weak(self) -> None:
        for name, entry in self._entries.items():
            source = entry.local
            if source is not None and source.weak:
                alike = UniformSource(source.name, source.framework, value=ALIKE)
                is_probe = source.form == "call" and not (source.share or source.in_place)
                uniform = alike if is_probe else entry.uniform
                self._entries[name] = replace(entry, local=None, uniform=uniform)

    def lookup(self, dotted: str) -> Entry | None:
        """What is known about a function, a class or a module attribute of this dotted name."""
        try:
            return self._found[dotted]
        except KeyError:
            entry = self._found[dotted] = self._look_up(dotted)
            return entry

    def canonical(self, dotted: str) -> str:
        """The name under which the catalogue knows ``dotted``: aliases of its prefixes resolved."""
        for _ in range(5):  # an alias may lead to another; a cycle must not hang the linter
            prefix = dotted
            while prefix and not self._leads_away(prefix, dotted):
                prefix = prefix.rpartition(".")[0]
            if not prefix:
                return dotted
            dotted = self._aliases[prefix] + dotted[len(prefix) :]
        return dotted

    def _leads_away(self, prefix: str, dotted: str) -> bool:
        """Is ``prefix`` an alias, and not one that lengthens a name which already is in full?"""
        target = self._aliases.get(prefix)
        if target is None:
            return False
        return not (target.startswith(f"{prefix}.") and f"{dotted}.".startswith(f"{target}."))

    def member(self, cls: str, name: str) -> Entry | None:
        """What is known about an attribute or method of a class or of its bases.

        ``__call__``, ``__iter__``, ``__enter__``, ``__exit__`` and ``__init__`` stand for calling,
        iterating, entering, leaving and constructing an object.
        """
        for owner in self.ancestry(cls):
            entry = self._entries.get(f"{owner}.{name}")
            if entry is None and name == "__init__":
                entry = self._entries.get(owner)
                if entry is None or entry.collective is None:
                    continue
            if entry is not None:
                return entry
        return None

    def attribute(self, cls: str, name: str) -> str | None:
        """The class of an attribute of an object, when it is followed too."""
        for owner in self.ancestry(cls):
            info = self._class(owner)
            if info is not None and info.attributes and name in info.attributes:
                return info.attributes[name]
        return None

    def method_param(self, cls: str, name: str) -> str | None:
        """The class of a parameter of this name in methods that override those of ``cls``."""
        for owner in self.ancestry(cls):
            info = self._class(owner)
            if info is not None and info.method_params and name in info.method_params:
                return info.method_params[name]
        return None

    def is_batch_param(self, cls: str, name: str) -> bool:
        """Is a parameter of this name, in methods that override those of ``cls``, a batch?"""
        return any(name in info.batch_params for info in self.classes(cls))

    def is_class(self, dotted: str) -> bool:
        """Are objects of this class followed?"""
        return self._class(dotted) is not None

    def subclass_of(self, cls: str, base: str) -> bool:
        """Is ``cls`` the class ``base`` or derived from it, as far as the catalogue knows?"""
        return self.canonical(base) in self.ancestry(cls)

    def classes(self, cls: str) -> Iterator[ClassInfo]:
        """What is known of a class and its bases, nearest first."""
        for owner in self.ancestry(cls):
            entry = self.lookup(owner)
            if entry is not None and entry.cls is not None:
                yield entry.cls

    def ancestry(self, cls: str) -> tuple[str, ...]:
        """The class and its bases, nearest first."""
        known = self._ancestries.get(cls)
        if known is not None:
            return known
        order: list[str] = []
        queue = [self.canonical(cls)]
        for name in queue:
            if name in order:
                continue
            order.append(name)
            info = self._class(name)
            if info is not None:
                queue.extend(self.canonical(base) for base in info.bases)
        self._ancestries[cls] = tuple(order)
        return self._ancestries[cls]

    def is_telling(self, cls: str) -> bool:
        """Can an object of a class meet other ranks, or tell them apart?"""
        return not self._telling.isdisjoint(self.ancestry(cls)) or self.arms_backward(cls)

    def member_is_telling(self, cls: str, name: str) -> bool:
        """The same for one of its attributes or methods."""
        found = self.member(cls, name)
        return found is not None and found.tells

    def arms_backward(self, cls: str) -> bool:
        """Does a forward of this wrapper make the backward of its loss collective?"""
        return any(info.backward for info in self.classes(cls))

    def hint(self, variable_name: str) -> str | None:
        """The class that an otherwise unknown variable of this name is taken to hold."""
        return self._hints.get(variable_name)

    def telltale(self, method_name: str) -> str | None:
        """The class that an unknown object with this method is taken to be an instance of."""
        return self._telltales.get(method_name)

    def env(self, name: str) -> Entry | None:
        """What is known about an environment variable."""
        return self._env.get(name)

    def rank_name(self, name: str) -> RankSource | None:
        """The rank that an otherwise unknown parameter or option of this name is taken to hold."""
        entry = self._bare_names.get(name)
        return entry.rank if entry else None

    def uniform_name(self, name: str) -> UniformSource | None:
        """The same for values equal on all ranks, such as ``world_size``."""
        entry = self._bare_names.get(name)
        return entry.uniform if entry else None

    @cached_property
    def communicating_classes(self) -> frozenset[str]:
        """The classes that have a method which is a collective."""
        owners = (e.name.rpartition(".")[0] for e in self.entries() if e.collective is not None)
        return frozenset(name for name in owners if name.rpartition(".")[2][:1].isupper())

    def entries(self) -> Iterator[Entry]:
        """All entries with a dotted name."""
        return iter(self._entries.values())

    def gone(self) -> Iterator[Retired]:
        """The retired names that do not exist: removed, or never there."""
        return (retired for retired in self._retired.values() if not retired.exists)

    def _look_up(self, dotted: str) -> Entry | None:
        name = self.canonical(dotted)
        entry = self._known(name)
        # A retired spelling is often an alias of the current one, so ask by the name as written.
        retired = self._retired.get(dotted) or self._retired.get(name)
        if retired is None:
            return entry
        return replace(entry or Entry(name), retired=retired)

    def _known(self, name: str) -> Entry | None:
        entry = self._entries.get(name)
        prefix, _, last = name.rpartition(".")
        if last[:1].isupper() and (entry is None or entry.cls is None):
            info = self._family(prefix, name)
            return replace(entry or Entry(name), cls=info) if info else entry
        if entry is not None:
            return entry
        if prefix and (last in _SPECIAL_METHODS or self.is_class(prefix)):
            return self.member(prefix, last)
        return None

    def _family(self, prefix: str, name: str) -> ClassInfo | None:
        """A class that only a wildcard row such as ``torchmetrics.*`` speaks about."""
        while prefix:
            family = self._families.get(prefix)
            if family is not None and name not in family.bases:
                return replace(family, name=name)
            prefix = prefix.rpartition(".")[0]
        return None

    def _class(self, dotted: str) -> ClassInfo | None:
        entry = self.lookup(dotted)
        return entry.cls if entry else None

    def _add(
        self, content: Mapping[str, object], source: str, framework: str, *, partial: bool = False
    ) -> None:
        """Add the rows of a file; with ``partial`` the mapping may hold keys that are not ours."""
        for key, value in content.items():
            if key in TABLES:
                if not isinstance(value, list):
                    raise CatalogueError(f"{source}: {key!r} must be a list of tables: [[{key}]]")
                for row in value:
                    for record, aliases in parse_row(key, row, source, framework):
                        name = self._put(key, record)
                        self._aliases.update(dict.fromkeys(aliases, name))
            elif key == "aliases":
                if not isinstance(value, Mapping) or not all(
                    isinstance(target, str) for target in value.values()
                ):
                    raise CatalogueError(f"{source}: 'aliases' must be a table of strings")
                self._aliases.update(value)
            elif key in HEAD_KEYS and framework != USER:
                continue  # read by itself: see shipped.py
            elif key not in FILE_KEYS and not partial:
                hint = nearest(key, (*TABLES, *FILE_KEYS))
                raise CatalogueError(f"{source}: unknown table {key!r}; {hint}")

    def _put(self, table: str, record: Row) -> str:
        """Keep a record under its name, which is returned: users may name things by an alias."""
        name = record.name
        if isinstance(record, Retired):
            self._retired[name] = record
            return name
        if isinstance(record, Write):
            self.writes.add(record)
            return name
        if getattr(record, "form", "") in _UNDOTTED:
            entries = self._env if getattr(record, "form", "") == "env" else self._bare_names
        else:
            entries = self._entries
            if record.framework == USER:
                self.own_packages |= {name.partition(".")[0]}
                name = self.canonical(name)
                record = replace(record, name=name)
        if isinstance(record, ClassInfo):
            self._hints.update(dict.fromkeys(record.hints, name))
            self._telltales.update(dict.fromkeys(record.telltales, name))
            if name.endswith(".*"):
                self._families[name[:-2]] = record
                return name
        facet = "cls" if table == "class" else table
        changes = {**_RIVALS.get(facet, {}), facet: record}
        known = entries.get(name)
        entries[name] = replace(known, **changes) if known else Entry(name, **changes)  # type: ignore[arg-type]
        return name

    def _index(self) -> None:
        events: set[str] = set()
        packages: set[str] = set()
        starting: set[str] = set()
        joining: set[str] = set()
        hints: set[str] = set()
        ranks: set[str] = set()
        local: set[str] = set()
        steady: set[str] = set()
        seeding: dict[str, frozenset[str]] = {}
        handling: set[str] = set()
        for table in (self._entries, self._env, self._bare_names):
            for name, entry in table.items():
                if entry.collective or entry.first or (entry.guard and entry.guard.communicates):
                    events.add(_last(name))
                    packages.add(name.partition(".")[0])
                if entry.collective and entry.collective.kind in _JOINING_KINDS:
                    joining.add(_last(name))
                    if entry.collective.kind == "init":
                        starting.add(_last(name))
                if entry.rank or entry.guard or entry.first:
                    ranks.add(_last(name))
                if entry.local:
                    local.add(_last(name))
                    if not entry.local.is_chance:
                        steady.add(_last(name))
                    if entry.local.handler is not None:
                        handling.add(_last(name))
                if entry.seed:
                    known = seeding.get(_last(name), frozenset())
                    seeding[_last(name)] = known.union(entry.seed.streams)
        self._telling = frozenset(
            name.rpartition(".")[0] for name, entry in self._entries.items() if entry.tells
        )
        for hint, cls in self._hints.items():
            call = self.member(cls, "__call__")
            # what goes by such a name communicates when called; ``ddp`` may be anything
            if call is not None and call.collective is not None and "_" in hint:
                hints.add(hint)
        for alias, name in self._aliases.items():
            if name.partition(".")[0] in packages:
                packages.add(alias.partition(".")[0])
            for names in (events, starting, joining, ranks, local, steady):
                if _last(name) in names:
                    names.add(_last(alias))
        self.event_names = frozenset(events | hints)
        self.event_packages = frozenset(packages)
        self.event_hints = frozenset(hints)
        self.starting_names = frozenset(starting)
        self.joining_names = frozenset(joining)
        self.rank_names = frozenset(ranks)
        self.local_names = frozenset(local)
        self.steady_names = frozenset(steady)
        self.seeding = seeding
        self.handling = frozenset(handling)
        self.known_names = frozenset(map(_last, self._entries))
        self.batch_params = frozenset(
            name
            for entry in self._entries.values()
            if entry.cls is not None
            for name in entry.cls.batch_params
        )


def _last(name: str) -> str:
    """The part of a name that a source file must contain to use it: the class for ``__call__``."""
    head, _, last = name.rpartition(".")
    return head.rpartition(".")[2] if last in _SPECIAL_METHODS else last


def _strings(content: Mapping[str, object], key: str, source: str) -> Sequence[str]:
    value = content.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise CatalogueError(f"{source}: {key!r} must be a list of strings")
    return value
