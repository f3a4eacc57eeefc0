"""What rules about DeepSpeed's configuration share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from distlint.source.settings.values import (
    UNKNOWN,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    mappings,
)

STATIC = "DeepSpeed reads it, and the tests do not install DeepSpeed"

Path = tuple[str, ...]


def entries(root: Mapping) -> Iterator[tuple[Path, Mapping, Entry]]:
    """Every entry with the path of its section and the section itself."""
    stack: list[tuple[Path, Mapping]] = [((), root)]
    while stack:
        path, mapping = stack.pop()
        for entry in mapping.entries:
            if not entry.merged:
                yield path, mapping, entry
                if isinstance(entry.value, Mapping):
                    stack.append(((*path, entry.key), entry.value))


def stage(root: Mapping) -> int | None:
    """The ZeRO stage; None when it is not known."""
    zero = root.node("zero_optimization")
    if zero is None:
        return 0 if root.complete else None
    if isinstance(zero, Scalar):
        return {True: 1, False: 0}.get(zero.value)
    assert isinstance(zero, (Mapping, Sequence))
    if not isinstance(zero, Mapping):
        return None
    node = zero.node("stage")
    if node is None:
        return 0 if zero.complete else None
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_on(root: Mapping, *path: str) -> bool:
    return root.value(*path) is True


def is_auto(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.value == "auto"


def uses_auto(root: Mapping) -> bool:
    return any(is_auto(entry.value) for each in mappings(root) for entry in each.entries)


def whole(value: Any) -> int | None:
    """A number without a fraction, else None."""
    if isinstance(value, bool) or value is UNKNOWN:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None
