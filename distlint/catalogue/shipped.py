"""The files of the catalogue that come with distlint, as far as their heads tell."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FRAMEWORKS = Path(__file__).with_name("frameworks")


@dataclass(frozen=True, slots=True)
class Seal:
    """A package of which the catalogue says all that matters to code outside of it."""

    parts: frozenset[str]
    """Modules and packages by which it is told from another one of the same name."""
    family: tuple[str, ...]
    """The packages that come with it, and itself."""


@lru_cache(maxsize=1)
def frameworks() -> Mapping[str, tuple[str, ...]]:
    """The shipped files (by name, without suffix) and the import roots that make each relevant."""
    return MappingProxyType({name: tuple(head["modules"]) for name, head in _heads().items()})


@lru_cache(maxsize=1)
def seals() -> Mapping[str, Seal]:
    """The sealed packages, by their import roots."""
    return MappingProxyType(
        {
            package: Seal(frozenset(parts), tuple(head["modules"]))
            for head in _heads().values()
            for package, parts in head.get("sealed", {}).items()
        }
    )


@dataclass(frozen=True, slots=True)
class Words:
    """What the text of a file says about the frameworks that it uses, before it is parsed.

    ``mentions``, ``collectives`` and ``imports`` are regular expressions.
    """

    mentions: tuple[str, ...]
    """A file that uses a framework holds one of these."""
    collectives: tuple[str, ...]
    """A file in which ranks may diverge holds one of these as well."""
    imports: tuple[str, ...]
    """An imported file that matters to its importers holds one of these."""
    variables: Mapping[str, str]
    """Names of variables that hold objects of a framework, whose import root they stand for."""
    signs: frozenset[str]
    """Names in a file that is run by several ranks."""
    rank_signs: frozenset[str]
    """Names in a file in which a parameter called ``rank`` is the rank of a process."""


_LISTS = (
    "mentions",
    "words",
    "import_words",
    "variables",
    "signs",
    "rank_signs",
    "distributions",
)
HEAD_KEYS = ("sealed", *_LISTS)
"""Keys of shipped files only, which are read from the head."""


@lru_cache(maxsize=1)
def words() -> Words:
    """The words of all shipped files.

    A framework that nobody imports for a single process needs none of its own: the import roots do.
    One that says which words are about ranks is not known by its import alone.
    """
    mentions: list[str] = []
    collectives: list[str] = []
    imports: list[str] = []
    variables: dict[str, str] = {}
    signs: set[str] = set()
    rank_signs: set[str] = set()
    for head in _heads().values():
        modules, handed = head["modules"], head.get("variables", [])
        own = head.get("mentions", [*modules, *handed])
        telling = head.get("words", own)
        mentions += own
        collectives += telling
        imports += head.get("import_words", telling)
        variables.update(dict.fromkeys(handed, modules[0]))
        signs.update(head.get("signs", [] if "words" in head else modules))
        rank_signs.update(head.get("rank_signs", []))
    return Words(
        _unique(mentions),
        _unique(collectives),
        _unique(imports),
        MappingProxyType(variables),
        frozenset(signs),
        frozenset(rank_signs),
    )


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


@lru_cache(maxsize=1)
def distributions() -> Mapping[str, tuple[str, ...]]:
    """What requirements call the framework of a shipped file, where that is another name."""
    found = {name: head.get("distributions") for name, head in _heads().items()}
    return MappingProxyType({name: tuple(names) for name, names in found.items() if names})


@lru_cache(maxsize=1)
def _heads() -> Mapping[str, Mapping[str, Any]]:
    return {path.stem: _head(path) for path in sorted(FRAMEWORKS.glob("*.toml"))}


def _head(path: Path) -> Mapping[str, Any]:
    """What stands above the first empty line; the rest is not read."""
    with path.open(encoding="utf-8") as file:
        head = tomllib.loads("".join(takewhile(str.strip, file)))
    if not isinstance(head.get("modules"), list):
        raise ValueError(f"{path.name}: 'modules = [...]' must come before the first empty line")
    for key in _LISTS:
        value = head.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(f"{path.name}: {key!r} must be a list of strings")
    return head
