"""Functions that are tried again with a smaller batch size when memory runs out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import Around, Scope, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue

DECORATOR = "find_executable_batch_size"
_TRAINS = frozenset({"backward", "training_step", "train_batch"})
_TRAINING = re.compile(r"^_?(train|fit|finetune)")
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Retried:
    """A function under the decorator, and where it is defined."""

    function: ir.Function
    scope: Scope
    point: Point
    synchronised: bool
    """Do all ranks try again together? Those of ``distlint.runtime`` do."""


def retried(module: Module, catalogue: Catalogue) -> Iterator[tuple[Retried, Objects]]:
    """The retried functions of a module."""
    if DECORATOR not in module.tokens and DECORATOR not in module.aliases.values():
        return
    objects = objects_across(module, catalogue)
    for point in objects.points:
        statement = point.statement
        if not isinstance(statement, ir.Define):
            continue
        scope = objects.scope_of(statement.function)
        for decorator in statement.function.decorators:
            callee = decorator.func if isinstance(decorator, ir.Call) else decorator
            dotted = objects.names.dotted(callee, point.scope) or ""
            ours = dotted.startswith((f"{catalogue.runtime}.", "distlint.runtime."))
            known = ours or dotted.startswith("accelerate.")
            if scope and known and dotted.endswith(f".{DECORATOR}"):
                yield Retried(statement.function, scope, point, ours), objects


def trains(function: ir.Function, objects: Objects, depth: int = _DEPTH) -> bool:
    """Does a function reach a backward or an optimizer's step?"""
    if not _TRAINS.isdisjoint(function.tokens):
        return True
    scope = objects.scope_of(function)
    if depth == 0 or scope is None:
        return False
    for sites in (objects.calls(function.tokens),):
        for site in sites:
            if site.point.scope is not scope:
                continue
            callee = objects.callee(site)
            if isinstance(callee, ir.Function):
                if callee is not function and trains(callee, objects, depth - 1):
                    return True
            elif callee is None and _TRAINING.search(site.name):
                if isinstance(site.call.func, ir.Name) or site.name == "fit":
                    return True
    return False


def inside(retry: Retried) -> Iterator[tuple[ir.Stmt, tuple[Around, ...]]]:
    """The statements of the function itself."""
    return placed(retry.function.body)


def calls_to(retry: Retried, objects: Objects) -> Iterator[CallSite]:
    """The calls of a retried function: of the name that the decorator leaves, in its own scope."""
    for site in objects.calls({retry.function.name}):
        if not isinstance(site.call.func, ir.Name) or site.point.scope is retry.scope:
            continue
        origins = objects.origins(site.call.func, site.point)
        if any(origin.node is retry.function for origin in origins):
            yield site
