"""Conditions that have one outcome, however their parts turn out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from distlint.analyzer import ir
from distlint.analyzer.static.reaching_definitions import path_of

Key = tuple[object, ...]

_OPPOSITES = {"!=": "==", "is not": "is", "not in": "in"}


def always(test: ir.BoolOp) -> bool | None:
    """Is ``a and not a`` or ``a or not a`` in it, and decides? None if it has two outcomes."""
    kind: Literal["and", "or"] = "and" if test.op == "and" else "or"
    seen: set[tuple[Key, bool]] = set()
    for key, holds in _operands(test, kind, holds=True):
        if (key, not holds) in seen:
            return kind == "or"
        seen.add((key, holds))
    return None


def has_true(test: ir.BoolOp) -> bool:
    """Is an operand of an ``or`` a constant that decides it: ``rank or 0 == 0``, ``... or 1``?"""
    compares = any(isinstance(each, ir.Compare) for each in test.values)
    return test.op == "or" and compares and any(map(_is_true, test.values))


def _is_true(node: ir.Expr) -> bool:
    if isinstance(node, ir.Literal):
        return type(node.value) is int and node.value != 0
    if not isinstance(node, ir.Compare) or node.ops != ("==",):
        return False
    left, right = node.left, node.rights[0]
    return (
        isinstance(left, ir.Literal)
        and isinstance(right, ir.Literal)
        and (left.value == right.value)
    )


def _operands(
    node: ir.Expr, kind: Literal["and", "or"], *, holds: bool
) -> Iterator[tuple[Key, bool]]:
    """What is asked for, all at once or one of it, and with which answer."""
    if isinstance(node, ir.Not):
        yield from _operands(node.value, kind, holds=not holds)
    elif isinstance(node, ir.BoolOp):
        if (node.op == kind) == holds:  # by De Morgan: not (a or b) is not a and not b
            for value in node.values:
                yield from _operands(value, kind, holds=holds)
    elif isinstance(node, ir.Compare) and node.ops[0] in _OPPOSITES and len(node.ops) == 1:
        same = ir.Compare(node.left, (_OPPOSITES[node.ops[0]],), node.rights)
        yield from _operands(same, kind, holds=not holds)
    else:
        key = _key(node)
        if key is not None:
            yield key, holds


def _key(node: ir.Expr) -> Key | None:
    """How a question is written that has the same answer when it is asked again."""
    path = path_of(node)
    if path is not None:
        return ("path", path)
    if isinstance(node, ir.Literal):
        return ("literal", type(node.value), node.value)
    if isinstance(node, ir.Call) and not node.args:
        called = path_of(node.func)
        return ("call", called) if called is not None else None
    if isinstance(node, ir.Compare):
        sides = tuple(_key(side) for side in (node.left, *node.rights))
        return ("compare", node.ops, sides) if None not in sides else None
    return None
