"""Arithmetic on tensors in the source: functions and methods alike, and equal expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import Objects, objects_across

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_MODULES = ("torch.", "torch.nn.functional.", "torch.linalg.", "torch.special.")


@dataclass(frozen=True, slots=True)
class Applied:
    """``torch.exp(x, ...)``, ``F.softmax(x, ...)`` or ``x.exp(...)``: the operand and the rest."""

    name: str
    operand: ir.Expr
    rest: tuple[ir.Argument, ...]
    call: ir.Call
    method: bool


def applied(objects: Objects, node: object, point: Point, *names: str) -> Applied | None:
    """A call of one of these functions of torch, or of the method of the same name."""
    if not isinstance(node, ir.Call):
        return None
    name = ir.last_name(node.func)
    if name not in names:
        return None
    dotted = objects.at(point).names.dotted(node.func, point.scope)
    if dotted is not None:
        if dotted.rpartition(".")[0] + "." not in _MODULES or not node.args:
            return None
        first = node.args[0]
        if first.keyword not in (None, "input") or first.star:
            return None
        return Applied(name, first.value, node.args[1:], node, method=False)
    if isinstance(node.func, ir.Attribute):
        return Applied(name, node.func.value, node.args, node, method=True)
    return None


def logarithms(
    document: Document, module: Module, catalogue: Catalogue
) -> Iterator[tuple[Applied, Point, Objects]]:
    """The logarithms taken in a script that is no test; it, or what it imports, has a softmax."""
    if document.is_test or "log" not in module.words:
        return
    if not any("softmax" in each.words for each in (module, *module.imports)):
        return
    objects = objects_across(module, catalogue)
    for point in objects.points:
        for node in nodes_of(point.statement):
            log = applied(objects, node, point, "log")
            if log is not None and not log.rest:
                yield log, point, objects


def same(one: Any, two: Any) -> bool:
    """Do two expressions say the same? Nothing is evaluated."""
    if type(one) is not type(two):
        return False
    if isinstance(one, (ir.Literal, ir.Name)):
        names = [each.value if isinstance(each, ir.Literal) else each.id for each in (one, two)]
        return bool(names[0] == names[1])
    if isinstance(one, ir.Argument) and (one.keyword, one.star) != (two.keyword, two.star):
        return False
    if isinstance(one, ir.Attribute) and one.attr != two.attr:
        return False
    if isinstance(one, (ir.Binary, ir.Unary, ir.BoolOp)) and one.op != two.op:
        return False
    if isinstance(one, ir.Compare) and one.ops != two.ops:
        return False
    if isinstance(one, (ir.Opaque, ir.Lambda, ir.Yield, ir.Comprehension, ir.Walrus)):
        return False
    left, right = list(ir.children(one)), list(ir.children(two))
    return len(left) == len(right) and all(map(same, left, right))
