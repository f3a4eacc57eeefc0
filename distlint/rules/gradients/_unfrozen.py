"""Parameters that are frozen before DDP wraps a model, and unfrozen through the wrapper."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._before_wrap import runs_before
from distlint.rules.gradients._steps import exclude
from distlint.rules.training import DDP, loops_around

FLAG = "requires_grad"
_INNER = "module"
_ITEMS = frozenset({"parameters", "named_parameters"})


class Flag(NamedTuple):
    """Where the parameters of a model, or some, are frozen or not: Ellipsis where it depends."""

    point: Point
    model: ir.Expr
    value: object


def unfrozen_by_wrapper(objects: Objects) -> Iterator[tuple[Point, CallSite]]:
    """Where parameters of a wrapper are unfrozen that were frozen before the wrap, and the wrap."""
    wraps = [wrap for _, wrap in objects.made(*DDP)]
    known = module_words(objects) if wraps else frozenset[str]()
    if known.isdisjoint({FLAG, f"{FLAG}_"}):
        return
    flags = list(_flags(objects))
    after = [(each, wrap) for each in flags for wrap in wraps if _is_of(objects, each, wrap)]
    changed = {id(wrap.call) for each, wrap in after if each.value is not True}
    for each, wrap in after:
        if id(wrap.call) not in changed and any(_is_before(other, wrap) for other in flags):
            yield each.point, wrap


def module_words(objects: Objects) -> frozenset[str]:
    """The words of a file and of those that it imports."""
    module = objects.module
    return frozenset(module.words.union(module.tokens, *(e.tokens for e in module.imports)))


def _flags(objects: Objects) -> Iterator[Flag]:
    for point in objects.points:
        for model, value in _set_at(point):
            yield Flag(point, model, _known(objects, value, point))
    for call, point in objects.nodes(ir.Call):
        yield from _by_function(objects, CallSite(call, point))


def _set_at(point: Point) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The models of which a statement freezes the parameters or not, and what it sets."""
    statement = point.statement
    if isinstance(statement, ir.Assign):
        for target in statement.targets:
            if isinstance(target, ir.Attribute) and target.attr == FLAG:
                model = _looped(target.value, point)
                if model is not None:
                    yield model, statement.value
    for call in calls_of(statement):
        if isinstance(call.func, ir.Attribute) and call.func.attr == f"{FLAG}_":
            value = call.args[0].value if call.args else ir.Literal(True)
            yield _looped(call.func.value, point) or call.func.value, value


def _known(objects: Objects, node: ir.Expr, point: Point) -> object:
    """The constant that is set, Ellipsis if it is not known."""
    if isinstance(node, ir.Literal):
        return node.value
    values = {origin.constant for origin in objects.origins(node, point)}
    return values.pop() if len(values) == 1 else ...


def _looped(node: ir.Expr, point: Point) -> ir.Expr | None:
    """The model over whose parameters a loop goes, if an expression is one of them."""
    if not isinstance(node, ir.Name):
        return None
    for loop in loops_around(point):
        if isinstance(loop, ir.For) and node.id in ir.names_bound(loop.target):
            call = loop.iterable
            if isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute):
                return call.func.value if call.func.attr in _ITEMS else None
    return None


def _by_function(objects: Objects, site: CallSite) -> Iterator[Flag]:
    """What a function of the project does to the models that it is given."""
    found = function_called(objects, site) if site.call.args else None
    for name, index, value in _inside(*found) if found is not None else ():
        model = objects.argument(site, name, index).value
        if isinstance(value, tuple):
            param, position, default = value
            passed = objects.argument(site, param, position)
            value = objects.constant(passed, site.point, default)
        if model is not None:
            yield Flag(site.point, model, value)


@lru_cache(maxsize=64)
def _inside(objects: Objects, function: ir.Function) -> tuple[tuple[str, int, object], ...]:
    """The parameters of a function that it takes for models, and what it sets: a constant, or its
    parameter with its position and default.
    """
    if FLAG not in function.tokens and f"{FLAG}_" not in function.tokens:
        return ()
    scope = objects.scope_of(function)
    params = [each.name for each in function.params if not each.star]
    params = params[1:] if function.owner else params
    found: list[tuple[str, int, object]] = []
    for point in objects.points_in(scope) if scope is not None else ():
        for model, node in _set_at(point):
            path = path_of(model)
            if path is None or path[0] not in params:
                continue
            value = _known(objects, node, point)
            if isinstance(node, ir.Name) and node.id in params:
                value = (node.id, params.index(node.id), ...)
            found.append((path[0], params.index(path[0]), value))
    return tuple(found)


def _is_of(objects: Objects, flag: Flag, wrap: CallSite) -> bool:
    """Is a flag set through a wrapper, after the wrap?"""
    if exclude(wrap.point, flag.point) or runs_before(objects, flag.point, wrap.point):
        return False
    return any(
        origin.node is wrap.call and origin.attributes[:1] in ((), (_INNER,))
        for origin in objects.origins(flag.model, flag.point)
    )


def _is_before(flag: Flag, wrap: CallSite) -> bool:
    """Is something frozen in the model that a call wraps, before it in the same function?"""
    given = wrap.call.args[0].value if wrap.call.args else None
    while isinstance(given, ir.Call) and isinstance(given.func, ir.Attribute):
        given = given.func.value  # net.cuda()
    path, model = path_of(given), path_of(flag.model)
    return (
        flag.value is not True
        and path is not None
        and model is not None
        and model[: len(path)] == path
        and flag.point.scope is wrap.point.scope
        and flag.point.statement.site < wrap.point.statement.site
        and not exclude(flag.point, wrap.point)
    )
