"""What surely runs, in which order: uses of the process group and what makes it, in functions.

A function of the project that is called in any case is followed, whatever file it is in. What only
may run, or is not known, may have made the group.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import Around, calls_of, expressions_in, nodes_of, placed
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.setup._order import ASKS, INIT

if TYPE_CHECKING:
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.objects import Objects

_INIT = INIT.rpartition(".")[2]
_DESTROYS = "destroy_process_group"
_MAKERS = frozenset({"Accelerator", "PartialState", "Fabric", "launch", "init_device_mesh"})
_MAY_MAKE = re.compile(r"init|setup|set_up|join|connect|distribut", re.IGNORECASE)
_HARMLESS = frozenset({"join", "isdisjoint", "__init__", *ASKS})
_LIBRARIES = frozenset({"torch", "wandb", "mlflow", "os", "numpy", "np", "random", "logging"})
_PERHAPS = (ir.BoolOp, ir.Conditional, ir.Comprehension, ir.Lambda)
_SOMETIMES = (ir.If, ir.For, ir.While, ir.Try)
_DEPTH = 3

Uses = Callable[["Objects", CallSite], bool]


@dataclass(frozen=True, slots=True)
class Event:
    """What a statement of a scope does, perhaps through functions."""

    kind: Literal["use", "make", "may make", "destroy"]
    call: ir.Call
    """The call in the scope."""
    statement: ir.Stmt
    where: Objects
    inner: ir.Call
    """The call that does it."""

    @property
    def is_direct(self) -> bool:
        """Does the scope do it without a function?"""
        return self.call is self.inner


@dataclass(slots=True)
class _Walk:
    """What is looked for in the statements of one scope, and how often functions were followed."""

    uses: Uses
    followed: Counter[ir.Function] = field(default_factory=Counter)

    def may_follow(self, function: ir.Function) -> bool:
        """The second call of a function may make the group again; a third shows nothing more."""
        self.followed[function] += 1
        return self.followed[function] <= 2


def before_made(objects: Objects, uses: Uses) -> Iterator[tuple[Event, Event]]:
    """A use of the group, or the first making, and the making that comes after it, both sure.

    One of them is in a function that is called.
    """
    for scope in objects.names.scopes:
        found: list[Event] = []
        for event in _events(objects, scope, _Walk(uses)):
            if event.kind == "may make":
                found = [each for each in found if each.kind == "make"]
                if not found:
                    break
            elif event.kind == "destroy":
                break
            elif event.kind == "use" and not any(each.kind == "make" for each in found):
                found.append(event)
            elif event.kind == "make":
                for each in found:
                    if each.statement is not event.statement:
                        if not (each.is_direct and event.is_direct):
                            yield each, event
                if any(each.kind == "make" for each in found):
                    break
                found = [event]


def _events(
    objects: Objects, scope: Scope, walk: _Walk, functions: tuple[ir.Function, ...] = ()
) -> Iterator[Event]:
    """In the order in which they come; of a function that is called, what comes in any case."""
    may_have_left = False
    for statement, around in _sequence(scope.body, is_file=scope.function is None):
        point = Point(scope, around)
        unsure = isinstance(statement, _SOMETIMES) or _is_unsure(statement)
        for call in _calls_within(statement) if unsure else _calls_made(statement):
            site = CallSite(call, point)
            if unsure or (may_have_left and functions):
                if _may_make(objects, site, _DEPTH, set()):
                    yield Event("may make", call, statement, objects, call)
            else:
                yield from _of_call(objects, site, statement, walk, functions)
        if isinstance(statement, ir.Return):
            return
        may_have_left = may_have_left or (unsure and _may_leave(statement))


def _of_call(
    objects: Objects,
    site: CallSite,
    statement: ir.Stmt,
    walk: _Walk,
    functions: tuple[ir.Function, ...],
) -> Iterator[Event]:
    call = site.call
    if objects.is_call_to(site, INIT):
        yield Event("make", call, statement, objects, call)
    elif site.name == _DESTROYS:
        yield Event("destroy", call, statement, objects, call)
    elif walk.uses(objects, site):
        yield Event("use", call, statement, objects, call)
    else:
        found = _called(objects, site)
        scope = found[0].scope_of(found[1]) if found is not None else None
        if found is None or scope is None or not _is_plain(found[1], functions):
            if _may_make(objects, site, _DEPTH, set()):
                yield Event("may make", call, statement, objects, call)
            return
        if not walk.may_follow(found[1]):
            return
        for event in _events(found[0], scope, walk, (*functions, found[1])):
            yield replace(event, call=call, statement=statement)


def surely_called(objects: Objects, site: CallSite, wanted: Uses, depth: int = 2) -> bool:
    """Does a function of the project that is called call what is wanted in any case?

    A return where there is no group, or one process, does not count.
    """
    found = _called(objects, site)
    scope = found[0].scope_of(found[1]) if found is not None else None
    if found is None or scope is None or found[1].generator or found[1].decorators:
        return False
    for statement, around in _sequence(scope.body, is_file=False):
        if isinstance(statement, _SOMETIMES) or _is_unsure(statement):
            if _may_leave(statement) and not _asks_for_others(statement):
                return False
            continue
        for call in calls_of(statement):
            inner = CallSite(call, Point(scope, around))
            if wanted(found[0], inner):
                return True
            if depth and surely_called(found[0], inner, wanted, depth - 1):
                return True
        if isinstance(statement, ir.Return):
            return False
    return False


def _asks_for_others(statement: ir.Stmt) -> bool:
    """``if not dist.is_initialized(): return``, ``if get_world_size() == 1: return``"""
    asked = ASKS | {"get_world_size", "world_size"}
    return isinstance(statement, ir.If) and not asked.isdisjoint(ir.tokens_of(statement.test))


def _is_plain(function: ir.Function, functions: tuple[ir.Function, ...]) -> bool:
    """May a function be followed?"""
    if function.generator or function.decorators or not ASKS.isdisjoint(function.tokens):
        return False
    return len(functions) < _DEPTH and function not in functions


def _sequence(
    block: ir.Block, *, is_file: bool, around: tuple[Around, ...] = (), owner: ir.Stmt | None = None
) -> Iterator[tuple[ir.Stmt, tuple[Around, ...]]]:
    """The statements of a block, and of blocks that are entered in any case."""
    for index, statement in enumerate(block):
        here = (*around, Around(block, index, owner))
        if isinstance(statement, ir.If) and is_file and "__main__" in ir.tokens_of(statement.test):
            yield from _sequence(statement.body, is_file=True, around=here, owner=statement)
            continue
        yield statement, here
        if isinstance(statement, ir.With):
            yield from _sequence(statement.body, is_file=is_file, around=here, owner=statement)
        elif isinstance(statement, ir.DefineClass):
            yield from _sequence(statement.cls.body, is_file=False, around=here, owner=statement)


def _is_unsure(statement: ir.Stmt) -> bool:
    """``get_rank() if is_initialized() else 0``"""
    nodes = nodes_of(statement)
    return any(isinstance(node, _PERHAPS) for node in nodes) or any(
        isinstance(node, (ir.Name, ir.Attribute)) and ir.last_name(node) in ASKS for node in nodes
    )


def _calls_made(statement: ir.Stmt) -> Iterator[ir.Call]:
    """Those of a statement; of a function that is defined, those in the defaults."""
    if not isinstance(statement, ir.Define):
        yield from calls_of(statement)
        return
    for param in statement.function.params:
        nodes = expressions_in(param.default) if param.default is not None else ()
        yield from (node for node in nodes if isinstance(node, ir.Call))


def _may_leave(statement: ir.Stmt) -> bool:
    return any(isinstance(each, ir.Return) for each, _ in placed((statement,)))


def _calls_within(statement: ir.Stmt) -> Iterator[ir.Call]:
    for each, _ in placed((statement,)):
        yield from calls_of(each)


def _called(objects: Objects, site: CallSite) -> tuple[Objects, ir.Function] | None:
    """The function, method or constructor of the project that a call runs."""
    callee = objects.callee(site)
    if isinstance(callee, ir.Class):
        made = objects.module.constructor(callee)
        return (objects_in(made[0]), made[1]) if made is not None else None
    return function_called(objects, site)


def _may_make(objects: Objects, site: CallSite, depth: int, seen: set[ir.Function]) -> bool:
    """May a call make the group, as far as its name or its function says?

    Functions that were ``seen`` do not.
    """
    if site.name in _MAKERS or objects.is_call_to(site, INIT):
        return True
    found = _called(objects, site)
    if found is None:
        known = objects.called(site).partition(".")[0] in _LIBRARIES
        return not known and site.name not in _HARMLESS and bool(_MAY_MAKE.search(site.name))
    where, function = found
    if function in seen:
        return False
    seen.add(function)
    if not depth:
        return any(_INIT in each.words for each in where.module.import_closure())
    scope = where.scope_of(function)
    return scope is None or any(
        _may_make(where, CallSite(call, Point(scope, around)), depth - 1, seen)
        for statement, around in placed(function.body)
        for call in calls_of(statement)
    )
