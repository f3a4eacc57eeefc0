"""Calls of the bare module of a wrapped model whose result is trained with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called, returned_by
from distlint.analyzer.static.names import Scope, calls_of, expressions_in, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._bare_modules import (
    PREPARES,
    Wrapper,
    uncompiled,
    wrapped_before,
    wrapped_modules,
)
from distlint.rules.gradients._steps import Backward, exclude
from distlint.rules.training import WRAPPERS, evaluates, leaves_no_gradient

_INNER = "module"
_DEPTH = 2
"""Through how many functions a loss is followed that one returns."""
_UNWRAPS = frozenset({"unwrap_model", "extract_model_from_parallel"})
_NO_FORWARD = frozenset(
    {
        "parameters", "named_parameters", "state_dict", "load_state_dict", "modules", "children",
        "named_modules", "named_children", "buffers", "zero_grad", "train", "eval", "to", "cuda",
        "register_forward_hook", "register_buffer", "requires_grad_", "save_pretrained", "apply",
        "get_input_embeddings", "set_input_embeddings", "enable_input_require_grads", "half",
        "gradient_checkpointing_enable", "configure_optimizers", "get_parameter", "type",
    }
)  # fmt: skip
"""Methods of a bare module that are no part of a forward pass."""
_TELLS = re.compile(r"^(get_)?(num|n|config|dtype|device)_|_(size|dim|dims|config|dtype)$")
"""Methods that tell something about the model."""


class Called(NamedTuple):
    """A call of a wrapped model, and whether it goes to the bare module."""

    site: CallSite
    wrapper: Wrapper
    bare: bool
    always: bool = True
    """Does it so wherever the function is called?"""
    given: bool = False
    """Is the wrapper given to a function that is not looked into, which may call it?"""


class Bypasses:
    """The calls of wrapped models in a module, and those past the wrapper that are trained with."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._wrapped = list(
            wrapped_modules(objects, lambda origin: _unwrapped(objects, origin) is not None)
        )
        self._calls: dict[int, list[Called]] = {}
        self._functions: dict[int, list[tuple[CallSite, ir.Function]]] = {}

    def of(self, backward: Backward, depth: int = _DEPTH) -> Iterator[tuple[CallSite, Wrapper]]:
        """The calls of bare modules that a loss comes from, where the wrapper is never called."""
        places = list(self._places(backward, depth))
        armed = {
            each.wrapper
            for place in places
            for each in self._in(place.site.point.scope)
            if not each.bare and (not each.given or _reaches(each.site, place))
        }
        for place in places:
            for call in self._in(place.site.point.scope):
                if (
                    call.bare
                    and call.wrapper not in armed
                    and (place is places[0] or call.always)
                    and not evaluates(call.site.point)
                    and not exclude(call.site.point, place.site.point)
                    and call.site.point.statement.site <= place.site.point.statement.site
                    and _reaches(call.site, place)
                ):
                    yield call.site, call.wrapper

    def _places(self, backward: Backward, depth: int) -> Iterator[Backward]:
        """A backward pass, and where the functions of the file return what it starts from."""
        yield backward
        scope = backward.site.point.scope
        for site, function in self._functions_in(scope) if depth else ():
            if (
                site.point.statement.site > backward.site.point.statement.site
                or evaluates(site.point)
                or not _reaches(site, backward)
            ):
                continue
            for value, at in returned_by(self._objects, function):
                yield from self._places(Backward(CallSite(site.call, at), value), depth - 1)

    def _functions_in(self, scope: Scope) -> list[tuple[CallSite, ir.Function]]:
        """The calls of functions of the file in a function."""
        if id(scope) not in self._functions:
            self._functions[id(scope)] = [
                (site, function)
                for point in self._objects.points_in(scope)
                for node in calls_of(point.statement)
                if isinstance(
                    function := self._objects.callee(site := CallSite(node, point)), ir.Function
                )
                and not function.generator
            ]
        return self._functions[id(scope)]

    def _in(self, scope: Scope) -> list[Called]:
        if id(scope) not in self._calls:
            self._calls[id(scope)] = []  # for a function that calls itself
            self._calls[id(scope)] = list(self._called(scope))
        return self._calls[id(scope)]

    def _called(self, scope: Scope) -> Iterator[Called]:
        """The calls of wrapped models in a function, and those that are given one."""
        objects = objects_across(scope.module, self._objects.catalogue)
        for point in objects.points_in(scope):
            for node in calls_of(point.statement):
                name, site = ir.last_name(node.func), CallSite(node, point)
                if name not in _NO_FORWARD and not _TELLS.search(name):
                    found = _wrapper_of(objects, node.func, point)
                    if found is not None:
                        yield Called(site, *found)
                        continue
                    inner = wrapped_before(objects, site, self._wrapped) if self._wrapped else None
                    if inner is not None:
                        yield Called(site, inner.wrapper, True)
                    else:
                        yield from self._given(site)

    def _given(self, site: CallSite) -> Iterator[Called]:
        """What a function may do to the wrappers that it is given; one elsewhere is looked at."""
        there, function = function_called(self._objects, site) or (self._objects, None)
        scope = there.scope_of(function) if function is not None else None
        if scope is not None and there.module is not site.point.scope.module:
            for each in self._in(scope):
                if each.always or not each.bare:
                    yield Called(site, each.wrapper, each.bare, given=not each.bare)
        if scope is not None or ir.last_name(site.call.func) in _UNWRAPS | {
            *("hasattr", "getattr", "isinstance", "compile")
        }:
            return
        for argument in site.call.args:
            if isinstance(argument.value, (ir.Name, ir.Attribute)):
                found = _wrapper_of(self._objects, argument.value, site.point)
                if found is not None and not found[1]:
                    yield Called(site, found[0], False, given=True)


def _wrapper_of(objects: Objects, func: ir.Expr, point: Point) -> tuple[Wrapper, bool, bool] | None:
    """The wrapper that a callee belongs to, and whether it is the bare module or of it: at least
    once, and always.
    """
    found: dict[Wrapper, list[bool]] = {}
    for origin in uncompiled(objects, objects.origins(func, point)):
        unwrapped = _unwrapped(objects, origin)
        if unwrapped is not None:
            found.setdefault(unwrapped[0], []).append(unwrapped[1])
    if len(found) != 1:
        return None
    wrapper, bare = found.popitem()
    # of an attribute, it is not known which assignment was the last
    return wrapper, any(bare) if isinstance(func, ir.Name) else all(bare), all(bare)


def taken_out(objects: Objects, call: CallSite) -> Iterator[Point]:
    """The statements by which the module that is called here was taken out of its wrapper."""
    for origin in objects.origins(call.call.func, call.point):
        held = _inside(objects, origin)
        if held is not None:
            yield held[1]


def _inside(objects: Objects, origin: Origin) -> tuple[ir.Expr, Point] | None:
    """What is taken out of its wrapper: ``unwrap_model(model)``, or by a list of such."""
    made, point = origin.node, origin.point
    if origin.attributes:
        return None
    if isinstance(made, ir.Call) and made.args and ir.last_name(made.func) in _UNWRAPS:
        return (made.args[0].value, point) if origin.item is None else None
    if isinstance(made, ir.Comprehension) and len(made.clauses) == 1 and origin.item is not None:
        target, iterable, _ = made.clauses[0]
        if isinstance(target, ir.Name) and _takes_out(made.element, target.id):
            for given in objects.origins(iterable, point):
                items = given.node.items if isinstance(given.node, ir.Display) else ()
                if 0 <= origin.item < len(items):
                    return items[origin.item], given.point
    return None


def _takes_out(node: ir.Expr, name: str) -> bool:
    """``model.module if wrapped else model``."""
    return (
        isinstance(node, ir.Conditional)
        and path_of(node.body) == (name, _INNER)
        and path_of(node.orelse) == (name,)
    )


def _unwrapped(objects: Objects, origin: Origin) -> tuple[Wrapper, bool] | None:
    held = _inside(objects, origin)
    if held is not None:
        for inner in objects.origins(*held):
            if isinstance(inner.node, ir.Call) and not inner.attributes:
                if _wraps(objects, CallSite(inner.node, inner.point)):
                    return (inner.node, inner.item), True
    elif isinstance(origin.node, ir.Call) and _wraps(objects, CallSite(origin.node, origin.point)):
        return (origin.node, origin.item), origin.attributes[:1] == (_INNER,)
    return None


def _wraps(objects: Objects, site: CallSite) -> bool:
    return objects.is_call_to(site, *WRAPPERS) or objects.called(site) in PREPARES


def _reaches(call: CallSite, backward: Backward) -> bool:
    """Does the result of a call come into the loss, by the names that it is assigned to?"""
    if any(node is call.call for node in expressions_in(backward.loss)):
        return True
    carried: set[str] = set()
    scope = call.point.scope
    for statement, around in sorted(placed(scope.body), key=lambda each: each[0].site):
        if statement is backward.site.point.statement:
            break
        value = getattr(statement, "value", None)
        if not isinstance(value, ir.Expr):
            continue
        if any(leaves_no_gradient(here.owner) for here in around):
            continue  # a target, as a teacher makes it: it hands no gradient back
        holds = statement is call.point.statement and any(
            node is call.call for node in expressions_in(value)
        )
        if holds or not carried.isdisjoint(ir.tokens_of(value)):
            if isinstance(statement, ir.Assign):
                carried.update(name for t in statement.targets for name in ir.tokens_of(t))
            elif isinstance(statement, ir.AugAssign):
                carried.update(ir.tokens_of(statement.target))
        elif isinstance(statement, ir.Assign) and not exclude(Point(scope, around), call.point):
            carried.difference_update(t.id for t in statement.targets if isinstance(t, ir.Name))
    return not carried.isdisjoint(ir.tokens_of(backward.loss))
