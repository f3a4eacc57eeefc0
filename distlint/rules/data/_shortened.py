"""Loaders that were shortened for the epoch in which a run goes on, where all epochs use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import gates_before
from distlint.analyzer.static.names import expressions_in, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.training import LOADER, evaluates, is_evaluation, loops_around, repeats

Loop = ir.For | ir.While

SKIPS = ("accelerate.Accelerator.skip_first_batches", "accelerate.skip_first_batches")
ISLICE = "itertools.islice"
_PREPARES = ("accelerate.Accelerator.prepare", "accelerate.Accelerator.prepare_data_loader")
_WRAPS = 4
"""Calls and variables between a loop and the loader that it goes through."""


class Shortened(NamedTuple):
    """The call that leaves batches out, and where its result is used again and again."""

    made: CallSite
    use: Point

    @property
    def is_iterator(self) -> bool:
        """Is there nothing left after the first epoch?"""
        return self.made.name == "islice"


def shortened(objects: Objects) -> Iterator[Shortened]:
    """The shortened loaders that the loops of a file go through in each epoch, each once."""
    seen: set[int] = set()
    for value, use in _passes(objects):
        for epochs in loops_around(use):
            if not repeats(epochs) or use.statement is epochs:
                continue
            made = _used_in_all(objects, value, use, epochs)
            if made is not None and id(made.call) not in seen:
                seen.add(id(made.call))
                yield Shortened(made, use)


def _passes(objects: Objects) -> Iterator[tuple[ir.Expr, Point]]:
    """What loops go through, and what is given to functions that loop over it."""
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.For) and not evaluates(point):
            yield statement.iterable, point
    for call, point in objects.nodes(ir.Call):
        if next(loops_around(point), None) is None or not call.args:
            continue
        there, function = objects.function_called(CallSite(call, point)) or (objects, None)
        if function is not None and not is_evaluation(function.name):
            for param, value in there.params_given(function, CallSite(call, point)):
                if path_of(value) is not None and _loops_over(function, param.name):
                    yield value, point


def _loops_over(function: ir.Function, name: str) -> bool:
    """Does a function loop over what a parameter is, or over what it makes of that?"""
    names = {name}
    for statement, _ in placed(function.body):
        if isinstance(statement, ir.Assign) and not names.isdisjoint(ir.tokens_of(statement.value)):
            names.update(*map(ir.names_bound, statement.targets))
    return any(
        isinstance(each, ir.For) and not names.isdisjoint(ir.tokens_of(each.iterable))
        for each, _ in placed(function.body)
    )


def _used_in_all(objects: Objects, value: ir.Expr, use: Point, epochs: Loop) -> CallSite | None:
    """The call that shortened a loader which all turns of a loop over epochs go through."""
    if _is_for_some(objects, use, epochs):
        return None
    for _ in range(_WRAPS):
        value = _inner(objects, value, use)
        path = path_of(value)
        if path is None:
            return None
        bound = [each for each in _in_loop(objects, use, epochs) if _binds(each.statement, path)]
        if not bound:
            return _made_before(objects, value, path, use, epochs)
        here = bound[0]
        given = getattr(here.statement, "value", None)
        if len(bound) != 1 or not _is_plain(here.statement, path) or given is None:
            return None
        if isinstance(given, ir.Call) and _shortens(objects, CallSite(given, here)):
            is_kept = path_of(given.args[0].value) == path
            sometimes = _is_for_some(objects, here, epochs)
            return CallSite(given, here) if is_kept or sometimes else None
        if _is_for_some(objects, here, epochs):
            return None
        value = given
    return None


def _inner(objects: Objects, value: ir.Expr, point: Point) -> ir.Expr:
    """What a loop goes through, without what is around it: ``enumerate(tqdm(loader))``."""
    while isinstance(value, ir.Call) and value.args and not value.args[0].star:
        if _shortens(objects, CallSite(value, point)):
            break
        value = value.args[0].value
    return value


def _made_before(
    objects: Objects, value: ir.Expr, path: Path, use: Point, epochs: Loop
) -> CallSite | None:
    """The call that shortened a loader before a loop over epochs, which binds it no more."""
    for origin in objects.origins(value, use):
        site = origin.site
        if site is None or not _shortens(objects.at(site.point), site):
            continue
        function = site.point.scope.function
        inside = any(here.owner is epochs for here in site.point.around)
        if inside or (function is not None and function.name in ir.tokens_of(epochs)):
            return None
        if len(path) > 1 and _is_set_elsewhere(objects, path, site, use):
            return None
        return site
    return None


def _is_set_elsewhere(objects: Objects, path: Path, made: CallSite, use: Point) -> bool:
    """Is an attribute given a loader by another method, which may run between epochs?"""
    functions = (made.point.scope.function, use.scope.function)
    for point in objects.points:
        function = point.scope.function
        if isinstance(point.statement, ir.Assign) and function not in functions:
            if function is not None and function.name != "__init__":
                if any(path_of(each) == path for each in point.statement.targets):
                    return True
    return False


def _shortens(objects: Objects, site: CallSite) -> bool:
    """Does a call leave the first batches of a loader out?"""
    args = [each for each in site.call.args if not each.star]
    if objects.is_call_to(site, *SKIPS):
        number = objects.argument(site, "num_batches", 1)
        return bool(args) and objects.constant(number, site.point, 0) != 0
    if len(args) < 3 or objects.called(site) != ISLICE:
        return False
    start, stop = args[1].value, args[2].value
    if isinstance(start, ir.Literal) and not start.value:
        return False
    is_rest = isinstance(stop, ir.Literal) and stop.value is None
    return is_rest and _is_loader(objects, args[0].value, site.point)


def _is_loader(objects: Objects, value: ir.Expr, point: Point) -> bool:
    return objects.class_of(value, point) == LOADER or any(
        isinstance(origin.node, ir.Call)
        and not origin.attributes
        and objects.is_call_to(CallSite(origin.node, origin.point), LOADER, *_PREPARES)
        for origin in objects.origins(value, point)
    )


# ---- the loop over epochs


def _in_loop(objects: Objects, use: Point, loop: Loop) -> Iterator[Point]:
    """The statements of a loop, also of those in it."""
    for point in objects.points_in(use.scope):
        if any(here.owner is loop for here in point.around):
            yield point


def _binds(statement: ir.Stmt, path: Path) -> bool:
    return path in _paths_bound(statement)


def _is_plain(statement: ir.Stmt, path: Path) -> bool:
    """``loader = value``."""
    return isinstance(statement, ir.Assign) and [*map(path_of, statement.targets)] == [path]


def _paths_bound(statement: ir.Stmt) -> set[Path]:
    """The variables and attributes that a statement gives a value."""
    targets: list[ir.Expr | None] = []
    if isinstance(statement, (ir.Assign, ir.Delete)):
        targets += statement.targets
    elif isinstance(statement, (ir.AugAssign, ir.For, ir.With)):
        targets.append(statement.target)
    found: set[Path] = set()
    while targets:
        target = targets.pop()
        if isinstance(target, ir.Display):
            targets += target.items
        path = path_of(target)
        if path is not None:
            found.add(path)
    return found


def _is_for_some(objects: Objects, point: Point, loop: Loop) -> bool:
    """Is a statement of a loop for some turns only, by a test of what changes in the loop?"""
    changing = _paths_bound(loop)
    for each in _in_loop(objects, point, loop):
        changing |= _paths_bound(each.statement)
    return any(
        any(here.owner is loop for here in gate.place.around)
        and any(path_of(node) in changing for node in expressions_in(gate.test))
        for gate in gates_before(point)
    )
