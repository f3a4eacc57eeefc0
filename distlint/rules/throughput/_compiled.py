"""Which functions of a file torch.compile compiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import Around
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects

COMPILE = "torch.compile"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A function that is compiled, and the site of what asks for it."""

    function: ir.Function
    site: int


def compiled(objects: Objects) -> Iterator[Compiled]:
    """Functions under ``@torch.compile``, and functions and models handed to it."""
    for scope in objects.names.scopes:
        function = scope.function
        outer = scope.outer
        if function is None or outer is None:
            continue
        for decorator, at in zip(function.decorators, function.decorator_sites, strict=True):
            if _asks(objects, decorator, Point(outer, (Around(outer.body, 0),))):
                yield Compiled(function, at)
    for site in objects.calls_to(COMPILE):
        given = objects.argument(site, "model", 0).value
        for origin in objects.origins(given, site.point) if given is not None else ():
            node: object = origin.node
            if isinstance(node, ir.Call) and not origin.attributes:
                made = objects.callee(CallSite(node, origin.point))
                node = made.methods.get("forward") if isinstance(made, ir.Class) else None
            if isinstance(node, ir.Function):
                yield Compiled(node, site.call.site)


def _asks(objects: Objects, decorator: ir.Expr, point: Point) -> bool:
    """``@torch.compile``, ``@torch.compile(...)`` or ``@partial(torch.compile, ...)``."""
    if isinstance(decorator, ir.Call):
        if ir.last_name(decorator.func) == "partial" and decorator.args:
            decorator = decorator.args[0].value
        else:
            decorator = decorator.func
    return objects.names.dotted(decorator, point.scope) == COMPILE
