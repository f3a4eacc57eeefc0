"""Rank checks that a file makes while it is imported, before any of its functions can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.setup._order import inits
from distlint.rules.setup._too_early import answers_as_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point

_MAKERS = frozenset({"Accelerator", "PartialState", "Fabric", "init_distributed", "deepspeed"})


def asked_at_import(objects: Objects) -> Iterator[tuple[CallSite, CallSite]]:
    """``IS_MAIN = is_main()`` in the body of a file, and where a function makes the group.

    A function of the file runs later. No other file that runs with it may make the group.
    """
    made = list(inits(objects))
    if not made or any(init.point.scope.function is None for init in made):
        return
    found = [site for point in objects.points for site in _asked(objects, point)]
    if not found:
        return
    for other in files_near(objects.module):
        if other is not objects.module and not _MAKERS.isdisjoint(other.words):
            return
        if other is not objects.module and any(True for _ in inits(objects_in(other))):
            return
    for site in found:
        yield site, made[0]


def _asked(objects: Objects, point: Point) -> Iterator[CallSite]:
    statement = point.statement
    if point.scope.function is not None or not isinstance(statement, ir.Assign):
        return
    if any(isinstance(here.owner, (ir.If, ir.Try)) for here in point.around):
        return
    value = statement.value
    while isinstance(value, (ir.Not, ir.Compare)):
        value = value.value if isinstance(value, ir.Not) else value.left
    if isinstance(value, ir.Call) and answers_as_first(objects, CallSite(value, point)):
        yield CallSite(value, point)
