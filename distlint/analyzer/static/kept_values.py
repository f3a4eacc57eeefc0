"""What a module keeps in attributes and globals: the rank, a test of it, or a wrapped model.

Code that reads ``self.main`` asks for the rank as much as code that calls ``get_rank``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from distlint.analyzer import ir

Assigned = tuple[str, ir.Expr]
"""An attribute (``.name``) or a global (``name``), and what is assigned to it."""

_PASSED = frozenset({"int", "bool", "str", "getenv", "get", "to", "cuda", "train", "eval"})
"""Functions and methods that give back what they are given, or what they are called on."""


def assignments(functions: Iterable[ir.Function], body: ir.Block) -> list[Assigned]:
    """What the functions of a module assign to attributes and globals, and its body to globals."""
    found = list(_assigned(body))
    for function in functions:
        shared = function.outer | (function.locals if function.captured else frozenset())
        found += [
            (name, value)
            for name, value in _assigned(function.body)
            if name[0] == "." or name in shared
        ]
    return found


def kept(assigned: list[Assigned], sign: Callable[[str, bool], int]) -> dict[str, int]:
    """The signs of attributes and globals, by what the names in their values are signs of.

    ``sign`` tells what a name is a sign of, and whether it is called.
    """
    found: dict[str, int] = {}
    before = -1
    while before != sum(found.values()):  # one may be made of another
        before = sum(found.values())
        for name, value in assigned:
            signs = found.get(name, 0)
            for leaf, called in _leaves(value):
                signs |= sign(leaf.removeprefix("."), called) | found.get(leaf, 0)
            if signs:
                found[name] = signs
    return found


def read(function: ir.Function) -> frozenset[str]:
    """The attributes and globals that a function reads, the former with a dot."""
    found: set[str] = set()
    stack: list[Any] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Attribute):
            found.add(f".{node.attr}")
        elif isinstance(node, ir.Name) and node.id not in function.locals:
            found.add(node.id)
        stack.extend(ir.children(node))
    return frozenset(found)


def _assigned(block: ir.Block) -> Iterator[Assigned]:
    for target, value, _ in ir.assignments_in(block):
        if isinstance(target, ir.Name):
            yield target.id, value
        elif isinstance(target, ir.Attribute) and isinstance(target.value, ir.Name):
            yield f".{target.attr}", value


def _leaves(node: ir.Expr) -> Iterator[tuple[str, bool]]:
    """The names that a value is made of, as far as it is a number, a test or the object itself."""
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ir.Call):
            name = ir.last_name(item.func)
            yield name, True
            if name in _PASSED:
                stack.extend(each.value for each in item.args)
                if isinstance(item.func, ir.Attribute):
                    stack.append(item.func.value)
        elif isinstance(item, ir.Attribute):
            yield f".{item.attr}", False
        elif isinstance(item, ir.Name):
            yield item.id, False
        elif isinstance(item, ir.Subscript):
            stack.append(item.index)
        elif isinstance(item, ir.Literal):
            if isinstance(item.value, str):
                yield item.value, False
        elif isinstance(item, _OPERATIONS):
            stack.extend(ir.children(item))


_OPERATIONS = (ir.Binary, ir.Compare, ir.BoolOp, ir.Not, ir.Unary, ir.Conditional)
