"""The files of the catalogue that come with distlint, as far as their heads tell."""

from __future__ import annotations

import sys
from collections.abc import Mapping
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


@lru_cache(maxsize=1)
def _heads() -> Mapping[str, Mapping[str, Any]]:
    return {path.stem: _head(path) for path in sorted(FRAMEWORKS.glob("*.toml"))}


def _head(path: Path) -> Mapping[str, Any]:
    """What stands above the first empty line; the rest is not read."""
    with path.open(encoding="utf-8") as file:
        head = tomllib.loads("".join(takewhile(str.strip, file)))
    if not isinstance(head.get("modules"), list):
        raise ValueError(f"{path.name}: 'modules = [...]' must stand above the first empty line")
    return head
