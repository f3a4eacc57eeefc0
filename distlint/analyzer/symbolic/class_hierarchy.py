"""The bases of the project's classes, and what a class has by them."""

from __future__ import annotations

from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import (
    DATA_LOADER,
    ITERABLE_DATASET,
    MODULE,
    MODULES,
)
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Unknown, Value


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


def kind_of(machine: Interpreter, value: Value) -> str | None:
    """The framework class of a value, looking through the project's subclasses."""
    if isinstance(value, v.Obj):
        return value.kind
    if isinstance(value, v.Instance):
        return next((owner for owner in mro(machine, value.cls) if isinstance(owner, str)), None)
    if isinstance(value, Unknown) and value.op in {"param", "call", "global", "attr", "method"}:
        # what is handed to prepare under the name of a model is one
        name = str(value.args[-1] if value.op in {"global", "attr"} else value.args[0])
        last = name.rsplit(".", 1)[-1].rsplit(":", 1)[0].lower()
        if value.op == "call" and name.startswith(MODULES):
            return MODULE
        if last.endswith(("model", "net", "network", "unet", "transformer")) or (
            value.op == "call" and "from_pretrained" in name
        ):
            return MODULE
        if last.endswith(("dataloader", "loader")):
            return DATA_LOADER
    return None


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
