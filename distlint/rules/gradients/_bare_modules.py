"""Modules that a file wraps, and calls by the name that they had before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.following import ends
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.gradients._steps import exclude
from distlint.rules.training import DDP

PREPARES = frozenset(f"accelerate.Accelerator.{name}" for name in ("prepare", "prepare_model"))
_COMPILED = "_orig_mod"

Wrapper = tuple[object, int | None]
"""The call that wraps or prepares a model, and which of its results it is."""


def uncompiled(objects: Objects, origins: Iterable[Origin]) -> Iterator[Origin]:
    """The origins, with what ``torch.compile`` was given in place of what it returned."""

    def given_to_compile(origin: Origin) -> list[Origin] | None:
        given = _compiled(objects, origin)
        if given is None:
            return None
        rest = origin.attributes[origin.attributes[:1] == (_COMPILED,) :]
        return [
            replace(inner, attributes=(*inner.attributes, *rest))
            for inner in objects.origins(given, origin.point)
        ]

    return ends(origins, given_to_compile)


def _compiled(objects: Objects, origin: Origin) -> ir.Expr | None:
    """What ``torch.compile`` was given, if an origin is its result, or an attribute of that."""
    call = origin.node
    if isinstance(call, ir.Call) and call.args and origin.item is None:
        if objects.is_call_to(CallSite(call, origin.point), "torch.compile"):
            return call.args[0].value
    return None


@dataclass(frozen=True)
class Wrapped:
    """A module that is wrapped once, and where it comes from."""

    site: CallSite
    wrapper: Wrapper
    module: Origin


def wrapped_modules(objects: Objects, is_wrapper: Callable[[Origin], bool]) -> Iterator[Wrapped]:
    """The modules that are wrapped, where nothing is seen to call their wrapper."""
    handed_on: set[Wrapper] | None = None
    for site in (*objects.calls_to(*DDP), *objects.calls({"prepare", "prepare_model"})):
        is_prepared = objects.called(site) in PREPARES
        if not is_prepared and not objects.is_call_to(site, *DDP):
            continue
        several = is_prepared and len(site.call.args) > 1
        for number, argument in enumerate(site.call.args[: None if is_prepared else 1]):
            if argument.keyword is not None or argument.star:
                break
            if handed_on is None:
                handed_on = set(_handed_on(objects))
            wrapper = (site.call, number if several else None)
            origins = list(uncompiled(objects, objects.origins(argument.value, site.point)))
            if wrapper not in handed_on and len(origins) == 1:
                if not is_wrapper(origins[0]):
                    yield Wrapped(site, wrapper, origins[0])


def _handed_on(objects: Objects) -> Iterator[Wrapper]:
    """What is called, or given to a function as it is: by the call that made it."""
    for point in objects.points:
        for node in calls_of(point.statement):
            for value in (node.func, *(argument.value for argument in node.args)):
                if isinstance(value, (ir.Name, ir.Attribute)):
                    for origin in uncompiled(objects, objects.origins(value, point)):
                        if isinstance(origin.node, ir.Call) and not origin.attributes:
                            yield origin.node, origin.item


def wrapped_before(objects: Objects, call: CallSite, wrapped: Sequence[Wrapped]) -> Wrapped | None:
    """The wrap of the module that is called here by the name that it had before."""
    origins = list(uncompiled(objects, objects.origins(call.call.func, call.point)))
    if len(origins) != 1:
        return None
    (origin,) = origins
    for each in wrapped:
        inner = each.module
        rest = origin.attributes[len(inner.attributes) :]
        if (
            (origin.node, origin.item) == (inner.node, inner.item)
            and origin.attributes[: len(inner.attributes)] == inner.attributes
            and len(rest) <= 1
            and not exclude(each.site.point, call.point)
            and _comes_later(each.site.point, call.point)
        ):
            return each
    return None


def _comes_later(wrap: Point, call: Point) -> bool:
    """Does a call come after a wrap: in the same function, or in another method of its class?"""
    if wrap.scope is call.scope:
        return wrap.statement.site < call.statement.site
    here, there = wrap.scope.function, call.scope.function
    return here is not None and there is not None and bool(here.owner) and here.owner == there.owner
