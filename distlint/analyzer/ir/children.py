"""The nodes directly below a node of any kind, by the annotations of its fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

_PLAIN = frozenset({str, int, float, complex, bool, bytes, type(None), type(...), frozenset})
_PLAIN_FIELDS = frozenset(
    {
        "Any",  # the value of a literal
        "str",
        "str | None",
        "int",
        "bool",
        "frozenset[str]",
        "tuple[str, ...]",
        "tuple[int, ...]",
    }
)
_NODE_FIELDS = frozenset({"Expr", "Function", "Class"})
_BLOCK_FIELDS = frozenset(
    f"tuple[{each}, ...]" for each in ("Expr", "Argument", "Handler", "Param")
) | {"Block"}

Reader = Callable[[Any], Sequence[Any]]
_READERS: dict[type, Reader] = {}


def children(node: Any) -> Sequence[Any]:
    """The IR nodes directly below a node, in the order of evaluation where it matters."""
    kind = type(node)
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _reader(kind)
    return reader(node)


def _reader(kind: type) -> Reader:
    """What reads the children of nodes of a kind: nothing takes more calls in a run."""
    types = {
        name: each.type
        for name, each in kind.__dataclass_fields__.items()  # type: ignore[attr-defined]
        if not name.startswith("_") and each.type not in _PLAIN_FIELDS
    }
    if not types:
        return lambda node: ()
    names = tuple(types)
    if all(each in _NODE_FIELDS for each in types.values()):
        read = attrgetter(*names)
        return read if len(names) > 1 else lambda node: (read(node),)
    if len(names) == 1 and types[names[0]] in _BLOCK_FIELDS:
        return attrgetter(*names)
    if all(each in _NODE_FIELDS | _BLOCK_FIELDS for each in types.values()):
        return partial(
            _read_known, tuple((name, each in _NODE_FIELDS) for name, each in types.items())
        )
    return partial(_read_any, names)


def _read_known(fields: tuple[tuple[str, bool], ...], node: Any) -> list[Any]:
    found: list[Any] = []
    for name, is_node in fields:
        if is_node:
            found.append(getattr(node, name))
        else:
            found += getattr(node, name)
    return found


def _read_any(names: tuple[str, ...], node: Any) -> list[Any]:
    found: list[Any] = []
    for name in names:
        value = getattr(node, name)
        kind = type(value)
        if kind is tuple:
            if value:
                _add_nodes(value, found)
        elif kind is dict:
            found.extend(value.values())
        elif kind not in _PLAIN:
            found.append(value)
    return found


def _add_nodes(values: tuple[Any, ...], found: list[Any]) -> None:
    for value in values:
        kind = type(value)
        if kind is tuple:
            _add_nodes(value, found)
        elif kind not in _PLAIN:
            found.append(value)
