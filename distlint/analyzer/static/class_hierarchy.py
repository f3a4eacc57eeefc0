"""Which methods run through a class: those that its base classes call, and leave to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.kept_values import assignments

_WITHOUT_METHODS = frozenset({"object", "ABC", "Generic", "Protocol"})
"""Base classes with no methods that code would call."""


def run_by_objects(module: Module, cls: ir.Class) -> Iterator[ir.Function]:
    """What an object of a class that derives from another of the project may run besides what is
    called on it: the inherited constructor, and the methods that those above call on themselves.

    Not for the classes of a framework, each of which would lead through all of it.
    """
    lineage = list(module.lineage(cls.name)) if not module.is_of_framework else []
    if len(lineage) < 2:
        return
    hooks = set[str]().union(*map(_called_on_self, lineage[1:]))
    for each in lineage:
        yield from (method for name, method in each.methods.items() if name in hooks)
    constructor = next((c.methods["__init__"] for c in lineage if "__init__" in c.methods), None)
    if constructor is not None:
        yield constructor


def open_hooks(module: Module) -> frozenset[str]:
    """The methods that classes of a module call on themselves and leave to classes below them.

    They are empty there, or missing from a class that derives from the project's own alone.
    """
    found: set[str] = set()
    for cls in module.classes.values():
        lineage = list(module.lineage(cls.name))
        methods: dict[str, ir.Function] = {}
        for each in lineage:
            methods = each.methods | methods
        names = {each.name for each in lineage} | _WITHOUT_METHODS
        bases = [ir.last_name(base) for each in lineage for base in each.bases]
        is_closed = names.issuperset(bases)
        held = set[str]().union(*map(_held, lineage)) if is_closed else set()
        for name in _called_on_self(cls):
            method = methods.get(name)
            if is_closed and name not in held if method is None else _is_empty(method):
                found.add(name)
    return frozenset(found)


def _called_on_self(cls: ir.Class) -> set[str]:
    found: set[str] = set()
    for method in cls.methods.values():
        stack: list[Any] = list(method.body)
        while stack:
            node = stack.pop()
            if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
                if isinstance(node.func.value, ir.Name) and node.func.value.id == "self":
                    found.add(node.func.attr)
            stack.extend(ir.children(node))
    return found


def _held(cls: ir.Class) -> set[str]:
    """The attributes of a class and of its objects: what they hold may be called as well.

    A constructor may set those of the names of its parameters all at once.
    """
    found = set(cls.attributes)
    if "__init__" in cls.methods:
        found.update(param.name for param in cls.methods["__init__"].params)
    for method in cls.methods.values():
        for name, _ in assignments([method], ()):
            found.add(name.removeprefix("."))
    return found


def _is_empty(method: ir.Function) -> bool:
    """Does a method do nothing but raise, or give back a constant?"""
    return all(
        isinstance(statement, ir.Raise)
        or (isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Literal))
        or (
            isinstance(statement, ir.Return)
            and (statement.value is None or isinstance(statement.value, ir.Literal))
        )
        for statement in method.body
    )
