"""A report as JSON from which the same report can be made again, on another machine as well.

Paths below a root are written relative to it. The shape follows the dataclasses, and a digest of
it stands in the document: what another version wrote is refused rather than misread.
"""

from __future__ import annotations

import json
import os
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from distlint import __version__
from distlint.source.paths import STDIN
from distlint.source.report import Report

_UNIONS = (Union, types.UnionType)


class ExchangeError(Exception):
    """A text that is no report of this version."""


def dumps(report: Report, root: Path) -> str:
    content = {
        "distlint": __version__,
        "format": shape_of(Report),
        "report": plain(report, root),
    }
    return json.dumps(content, indent=1)


def loads(text: str, root: Path) -> Report:
    """The report that ``dumps`` wrote.

    Raises:
        ExchangeError: if the text is none.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ExchangeError(f"not JSON: {error}") from None
    except (ValueError, RecursionError):
        raise ExchangeError(
            "not a report: a number is too large, or the file is nested too deeply"
        ) from None
    if not isinstance(content, dict) or "report" not in content:
        raise ExchangeError("not a report written by `--output-format report`")
    if content.get("format") != shape_of(Report):
        raise ExchangeError(f"written by another version of distlint ({content.get('distlint')})")
    try:
        report = made(Report, content["report"], root)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ExchangeError(f"corrupt report: {error!r}") from None
    assert isinstance(report, Report)
    return report


@lru_cache(maxsize=4)
def shape_of(kind: type) -> str:
    """A digest of the fields and types that a report, or what else is written, is made of."""
    import hashlib

    return hashlib.sha256(repr(_shape(kind)).encode()).hexdigest()[:16]


def _shape(kind: Any) -> object:
    if is_dataclass(kind):
        return [(name, _shape(hint)) for name, hint in _hints(cast(type, kind)).items()]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return arguments
    if origin is not None:
        name = "union" if origin in _UNIONS else origin.__name__
        return name, [_shape(argument) for argument in arguments]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [member.value for member in kind]
    return getattr(kind, "__name__", repr(kind))


def plain(value: object, root: Path) -> object:
    """Data of the types that JSON has; ``made`` makes the value of it again."""
    if isinstance(value, Path):
        return value.relative_to(root).as_posix() if root in value.parents else str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, frozenset)):
        items = sorted(value) if isinstance(value, frozenset) else value
        return [plain(item, root) for item in items]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name), root) for f in fields(value)}
    return value


def made(kind: Any, value: Any, root: Path) -> object:
    """The value of a type that ``plain`` made plain; what is left out is as by default.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if it is damaged.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in _UNIONS:
        (kind,) = (each for each in arguments if each is not type(None))
        return None if value is None else made(kind, value, root)
    if origin in (tuple, frozenset):
        if origin is tuple and arguments[-1] is not Ellipsis:
            return tuple(made(k, v, root) for k, v in zip(arguments, value, strict=True))
        return origin(made(arguments[0], item, root) for item in value)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(value)
        return value
    if kind is Path:
        return _path(value, root)
    if is_dataclass(kind):
        return _dataclass(kind, value, root)
    if isinstance(value, kind) and not issubclass(kind, Enum):
        return value
    return kind(value)


def _dataclass(kind: Any, value: Mapping[str, object], root: Path) -> object:
    hints = _hints(kind)
    given = [each.name for each in fields(kind) if each.name in value or each.default is MISSING]
    return kind(**{name: made(hints[name], value[name], root) for name in given})


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _path(value: str, root: Path) -> Path:
    path = Path(value)
    return path if path == STDIN else Path(os.path.abspath(root / path))
