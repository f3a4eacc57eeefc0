"""What functions and classes assign and hand on, as far as their code tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module

Assigned = tuple[ir.Function, ir.Expr, int | None]
"""A function that assigns, the value, and which item of it is meant."""


class CodeShapes:
    """Looks at each function and class once, when it is asked about."""

    def __init__(self) -> None:
        self._assignments: dict[ir.Class, dict[str, list[Assigned]]] = {}
        self._global_assignments: dict[str, dict[str, list[Assigned]]] = {}
        self._bindings: dict[ir.Function, dict[str, list[object]]] = {}
        self._handing: dict[ir.Function, int | None] = {}
        self._devices: dict[ir.Function, frozenset[str]] = {}
        self._buffers: dict[ir.Class, frozenset[str]] = {}

    def assigned_to_attribute(self, cls: ir.Class, attr: str) -> list[Assigned]:
        """What the methods of a class assign to ``self.attr``: method, value, item of a tuple."""
        table = self._assignments.get(cls)
        if table is None:
            table = {}
            for function in cls.methods.values():
                owner = function.params[0].name if function.params else ""
                for name, value, index in _self_assignments(function.body, owner):
                    table.setdefault(name, []).append((function, value, index))
            self._assignments[cls] = table
        return table.get(attr, [])

    def assigned_to_global(self, module: Module, name: str) -> list[Assigned]:
        """What functions of a module assign to a global: function, value, item of a tuple."""
        table = self._global_assignments.get(module.key)
        if table is None:
            table = self._global_assignments[module.key] = {}
            for function in module.functions:
                for target, value, index in ir.assignments_in(function.body):
                    if isinstance(target, ir.Name) and target.id in function.outer:
                        table.setdefault(target.id, []).append((function, value, index))
        return table.get(name, [])

    def assigned_to_variable(self, function: ir.Function, name: str) -> list[object]:
        """What a function binds a variable to: expressions, functions, None for anything else."""
        table = self._bindings.get(function)
        if table is None:
            table = self._bindings[function] = {}
            for target, value, index in ir.assignments_in(function.body):
                for bound in ir.names_bound(target):
                    table.setdefault(bound, []).append(value if index is None else None)
            for node in ir.own_nodes(function.body):
                if isinstance(node, ir.Define):
                    table.setdefault(node.function.name, []).append(node.function)
                elif not isinstance(node, ir.Assign):
                    for bound in ir.bound_by(node):
                        table.setdefault(bound, []).append(None)
        return table.get(name, [])

    def buffers_of(self, cls: ir.Class) -> frozenset[str]:
        """The names that a class gives its buffers: ``self.register_buffer("name", tensor)``."""
        if cls not in self._buffers:
            self._buffers[cls] = frozenset(
                node.args[0].value.value
                for method in cls.methods.values()
                for node in ir.own_nodes(method.body)
                if isinstance(node, ir.Call)
                and ir.last_name(node.func) == "register_buffer"
                and node.args
                and isinstance(node.args[0].value, ir.Literal)
            )
        return self._buffers[cls]

    def hands_on(self, function: ir.Function) -> int | None:
        """The parameter whose items a generator yields as they are, one by one; None if none is."""
        if function not in self._handing:
            self._handing[function] = _handed_on(function)
        return self._handing[function]

    def binds_device(self, function: ir.Function, name: str) -> bool:
        """Is a parameter used as the device of this process? Then it is the local rank."""
        known = self._devices.get(function)
        if known is None:
            known = frozenset(_device_names(function.body))
            self._devices[function] = known
        return name in known


def _handed_on(function: ir.Function) -> int | None:
    """The position of ``items`` in a body like ``for each in items: ...; yield each; ...``."""
    loops = [loop for loop in function.body if isinstance(loop, ir.For)]
    names = [param.name if not param.star else "" for param in function.params]
    for loop in loops:
        items, each = loop.iterable, loop.target
        if not isinstance(items, ir.Name) or not isinstance(each, ir.Name):
            continue
        nodes = [node for node in ir.own_nodes(function.body) if node is not loop]
        bound = frozenset().union(*map(ir.bound_by, nodes))
        if (
            items.id in names
            and bound.isdisjoint({items.id, each.id})
            and not any(isinstance(node, _LEAVING) for node in nodes)
            and sum(isinstance(node, ir.Yield) for node in nodes) == 1
            and any(_yields(statement, each.id) for statement in loop.body)
        ):
            return names.index(items.id)
    return None


_LEAVING = (ir.Return, ir.Break, ir.Continue, ir.Try)


def _yields(statement: ir.Stmt, name: str) -> bool:
    """Is it ``yield name``?"""
    return (
        isinstance(statement, ir.Evaluate)
        and isinstance(statement.value, ir.Yield)
        and not statement.value.delegated
        and isinstance(statement.value.value, ir.Name)
        and statement.value.value.id == name
    )


def _self_assignments(block: ir.Block, owner: str) -> Iterator[tuple[str, ir.Expr, int | None]]:
    for item, value, index in ir.assignments_in(block):
        if (
            isinstance(item, ir.Attribute)
            and isinstance(item.value, ir.Name)
            and item.value.id == owner
        ):
            yield item.attr, value, index


def _device_names(block: ir.Block) -> Iterator[str]:
    """Names passed as ``device_ids=[name]`` or to ``set_device(name)``."""
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call):
            name = ir.last_name(node.func)
            for argument in node.args:
                value = argument.value
                if argument.keyword == "device_ids" and isinstance(value, ir.Display):
                    yield from (item.id for item in value.items if isinstance(item, ir.Name))
                elif name == "set_device" and isinstance(value, ir.Name):
                    yield value.id
        if not isinstance(node, (ir.Define, ir.DefineClass)):
            stack.extend(ir.children(node))
