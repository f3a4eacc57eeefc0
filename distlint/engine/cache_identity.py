"""The identity of the settings and of the program that a result was made with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

from distlint import __version__
from distlint.analyzer.project.module_search import content_of
from distlint.engine.cache_folder import stamp
from distlint.engine.results import FileResult
from distlint.engine.settings import Settings
from distlint.source.document import digest
from distlint.source.exchange import shape_of

_NOT_FOR_RESULTS = frozenset({"exclude", "baseline", "cache_dir", "unsafe_fixes", "sources"})
"""Settings that decide which files are checked, or what is done with the results."""


def identity(settings: Settings) -> str:
    """What tells settings, and the program that heeds them, from others."""
    told = [
        (each.name, _canonical(getattr(settings, each.name)))
        for each in fields(settings)
        if each.name not in _NOT_FOR_RESULTS
    ]
    named = [path for path in settings.catalogue if isinstance(path, Path)]
    own = sorted({other for rule in settings.rules for other in rule.parent.glob("*.py")})
    files = [(str(path), content_of(path)[0]) for path in (*named, *settings.rules, *own)]
    return digest(repr((_program(), told, files)).encode("utf-8", "surrogateescape"))


def _canonical(value: Any) -> object:
    """Something that is written the same way whenever the value is the same."""
    if is_dataclass(value):
        return [(each.name, _canonical(getattr(value, each.name))) for each in fields(value)]
    if isinstance(value, Mapping):
        return sorted((str(key), _canonical(each)) for key, each in value.items())
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, (tuple, list)):
        return [_canonical(each) for each in value]
    return str(value) if isinstance(value, (Path, Enum)) else repr(value)


@lru_cache(maxsize=1)
def _program() -> tuple[object, ...]:
    """This program and what it parses with, so that a change in either makes results void."""
    from importlib.util import find_spec

    package = Path(__file__).parent.parent
    parser = find_spec("libcst")
    where = Path(parser.origin) if parser is not None and parser.origin else None
    marks = [where, where.with_name("_version.py")] if where is not None else []
    return (
        __version__,
        sys.version,
        shape_of(FileResult),
        sorted(_marks(package)),
        [(str(path), stamp(path)) for path in marks],
    )


def _marks(folder: Path) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Every source file of a folder, with its size and when it was written."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".toml", ".json")):
                yield entry.path, stamp(entry.path)
            elif "." not in entry.name and entry.name not in ("__pycache__", "runtime"):
                if entry.is_dir():
                    yield from _marks(Path(entry.path))
