"""The bases of the project's classes, and what a class has by them."""

from __future__ import annotations

from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import ITERABLE_DATASET
from distlint.analyzer.symbolic.interpreter import Interpreter


def mro(machine: Interpreter, cls: ir.Class) -> tuple[ir.Class | str, ...]:
    """The class and its bases, depth first; framework classes by name."""
    known_bases = machine.context.hierarchy
    known = known_bases.get(cls)
    if known is not None:
        return known
    known_bases[cls] = (cls,)
    order: list[ir.Class | str] = [cls]
    for base in cls.bases:
        value = machine.evaluate_statically(machine.context.module_of(cls), base)
        above: tuple[ir.Class | str, ...] = ()
        if isinstance(value, v.Cls):
            above = mro(machine, value.cls)
        elif isinstance(value, v.External):
            above = (machine.catalogue.canonical(value.name),)
        order.extend(item for item in above if item not in order)
    known_bases[cls] = tuple(order)
    return known_bases[cls]


def class_has_buffers(machine: Interpreter, cls: ir.Class) -> bool:
    """Does a module of this class hold buffers? One under a condition does not count."""
    names: set[str] = set()
    registers = False
    for owner in mro(machine, cls):
        if isinstance(owner, str):
            continue
        module = machine.context.module_of(owner)
        for function in module.functions:
            names.update(function.tokens)
            registers = registers or any(
                isinstance(statement, ir.Evaluate)
                and isinstance(statement.value, ir.Call)
                and getattr(statement.value.func, "attr", "") == "register_buffer"
                for statement in function.body
            )
    return registers or any("BatchNorm" in name for name in names)


def strides_by_rank(machine: Interpreter, cls: ir.Class) -> bool:
    """Is it an iterable dataset that yields every so-manieth item, by the rank?"""
    owners = mro(machine, cls)
    if ITERABLE_DATASET not in owners:
        return False
    iterators = (owner.methods.get("__iter__") for owner in owners if not isinstance(owner, str))
    function = next((found for found in iterators if found is not None), None)
    return function is not None and _strides(function.body, machine.catalogue.rank_names)


def _strides(block: ir.Block, rank_names: frozenset[str]) -> bool:
    """Does a finite iteration pick by ``i % world == rank``, or by a slice from the rank on?"""
    found = False
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.While) and isinstance(node.test, ir.Literal) and node.test.value:
            return False  # it never ends
        if isinstance(node, ir.Compare) and node.ops == ("==",):
            for side, other in ((node.left, node.rights[0]), (node.rights[0], node.left)):
                remainder = isinstance(side, ir.Binary) and side.op == "%"
                found = found or (remainder and not rank_names.isdisjoint(ir.tokens_of(other)))
        elif isinstance(node, ir.Slice) and node.lower and node.step and not node.upper:
            found = found or not rank_names.isdisjoint(ir.tokens_of(node.lower))
        elif isinstance(node, ir.Call) and len(node.args) == 4:
            name = ir.last_name(node.func)
            start = ir.tokens_of(node.args[1])
            found = found or (name == "islice" and not rank_names.isdisjoint(start))
        stack.extend(ir.children(node))
    return found
