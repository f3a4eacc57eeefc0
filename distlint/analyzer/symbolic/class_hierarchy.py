"""The bases of the project's classes, and what a class has by them."""

from __future__ import annotations

import re
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.static import data_classes
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import (
    DATA_LOADER,
    ITERABLE_DATASET,
    MODULE,
    MODULES,
    SAMPLERS,
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
    """Is it an iterable dataset or a sampler that yields every so-manieth item, by the rank?"""
    owners = mro(machine, cls)
    if _ITERATED.isdisjoint(owners):
        return False
    iterators = (owner.methods.get("__iter__") for owner in owners if not isinstance(owner, str))
    function = next((found for found in iterators if found is not None), None)
    if function is None or (ITERABLE_DATASET not in owners and _may_pad(function)):
        return False
    return _strides(function.body, machine.catalogue.rank_names)


def _may_pad(function: ir.Function) -> bool:
    """May a sampler see to it that all ranks get as many numbers, as torch's own does?"""
    return any(map(_EVEN.search, function.tokens)) or any(
        isinstance(node, (ir.AugAssign, ir.While)) or _adds(node)
        for node in ir.own_nodes(function.body)
    )


def _adds(node: object) -> bool:
    if isinstance(node, ir.Call):
        return ir.last_name(node.func) in {"extend", "append", "repeat", "cycle", "cat"}
    return isinstance(node, ir.Binary) and node.op == "+"


def counted_attributes(machine: Interpreter, cls: ir.Class) -> frozenset[str]:
    """The attributes of a data set or a sampler that have as many items as it gives."""
    owners = mro(machine, cls)
    name = "__len__" if _ITERATED.isdisjoint(owners) else "__iter__"
    methods = (owner.methods.get(name) for owner in owners if isinstance(owner, ir.Class))
    method = next((found for found in methods if found is not None), None)
    return data_classes.counted_attributes(method) if method is not None else frozenset()


_ITERATED = frozenset({ITERABLE_DATASET, *SAMPLERS})


_EVEN = re.compile(r"total|pad|even|drop|num_samples|per_|tile|repeat", re.IGNORECASE)
"""Names in samplers that give each rank as many numbers."""


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
        elif isinstance(node, ir.Call) and len(node.args) in {3, 4}:
            name = "range" if len(node.args) == 3 else "islice"
            start = ir.tokens_of(node.args[-3])
            is_one = ir.last_name(node.func) == name
            found = found or (is_one and not rank_names.isdisjoint(start))
        stack.extend(ir.children(node))
    return found
