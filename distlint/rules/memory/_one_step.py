"""Loops over the parts of one optimizer step, or of one batch: what they keep is small."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.batches import over_batches
from distlint.analyzer.static.callers import calls_elsewhere, objects_in
from distlint.analyzer.static.names import Scope, calls_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, holds, path_of
from distlint.rules.memory._adding import KEEPS, adds, begins, begins_in
from distlint.rules.memory._returned import parts
from distlint.rules.training import loops_around

Loop = ir.For | ir.While

_OPTIMIZER = re.compile(r"^(\w+_)?opt(im|imizer)?(_\w+)?$|scaler", re.IGNORECASE)
_ONE_BATCH = re.compile(r"batch(?!es|s|_?load|_?iter)", re.IGNORECASE)
_PARTS = re.compile(
    r"(?<!total_)(?<!max_)(?:accum|micro_?(?:batch|step)|grad_?acc|(?:^|_)ga(?:_steps?|_iters?)?$)"
    r"(?!.*load)|^(?:micro|mb)s?$",
    re.IGNORECASE,
)
"""Names of gradient accumulation steps, and of the parts of a batch that they take."""

_GOES_OVER = frozenset({"range", "trange", "tqdm", "enumerate", "zip", "islice"})
_SAME_COUNT = frozenset({"int", "max", "min"})


def is_counted(iterable: ir.Expr) -> bool:
    """Does a loop go over ``range(...)``?"""
    while isinstance(iterable, ir.Call):
        if ir.last_name(iterable.func) in ("range", "trange"):
            return True
        if not iterable.args:
            return False
        iterable = iterable.args[0].value
    return False


def is_of_one_step(objects: Objects, backward: CallSite, kept: Path) -> bool:
    """Is the sum or the list of one optimizer step, or of one batch?"""
    point = backward.point
    loops = list(loops_around(point))
    begun = [number for number, loop in enumerate(loops) if begins(loop, kept)]
    if any(_is_one_batch(loops[: number + 1], point.scope) for number in begun):
        return True
    taken = _up_to_step(objects, loops, point)
    if begun:
        return begun[0] < taken
    function = point.scope.function
    return (
        function is not None
        and taken > len(loops)
        and begins_in(function.body, kept)
        and not any(_keeps_result(*caller) for caller in _given_back(objects, function, kept))
    )


def _up_to_step(objects: Objects, loops: list[Loop], point: Point) -> int:
    """How many loops are those of one step: over its parts, and the one that takes the steps.

    The function counts as another loop where all loops in it are over parts.
    """
    over_parts = 0
    while over_parts < len(loops) and _is_over_parts(objects, loops[over_parts], point):
        over_parts += 1
    least = over_parts + 1
    for number, loop in enumerate(loops):
        if _takes_step(loop.body):
            return max(number + 1, least)
    function = point.scope.function
    if function is None or not _takes_step(function.body):
        return least
    sources = over_batches(function.body)
    if any(loop in sources and not _is_overparts(loop) for loop in loops):
        return least  # the gradients of an epoch
    return len(loops) + 1


def _takes_step(body: ir.Block) -> bool:
    return any(
        isinstance(call.func, ir.Attribute)
        and call.func.attr == "step"
        and any(map(_OPTIMIZER.search, ir.tokens_of(call.func.value)))
        for statement, _ in placed(body)
        for call in calls_of(statement)
    )


def _is_over_parts(objects: Objects, loop: Loop, point: Point) -> bool:
    """Does a loop accumulate gradients for one step, by the names of what it goes over?"""
    if isinstance(loop, ir.While):
        test = loop.test
        return isinstance(test, ir.Compare) and any(map(_named, (test.left, *test.rights)))
    if any(map(_PARTS.search, ir.names_bound(loop.target))):
        return True
    return _goes_over_parts(objects, loop.iterable, point)


def _goes_over_parts(objects: Objects, node: ir.Expr, point: Point) -> bool:
    if isinstance(node, ir.Call):
        name = ir.last_name(node.func)
        if name in ("range", "trange", "islice"):
            return any(_counts_parts(objects, each.value, point) for each in node.args)
        if name in _GOES_OVER:
            return any(_goes_over_parts(objects, each.value, point) for each in node.args)
    return _named(node)


def _counts_parts(objects: Objects, node: ir.Expr, point: Point, depth: int = 2) -> bool:
    """Is it the number of accumulation steps, or of those of each rank?"""
    if isinstance(node, ir.Binary):
        return node.op == "//" and _counts_parts(objects, node.left, point, depth)
    if isinstance(node, ir.Call) and ir.last_name(node.func) in _SAME_COUNT:
        return any(_counts_parts(objects, each.value, point, depth) for each in node.args)
    if _named(node):
        return True
    if not isinstance(node, ir.Name) or not depth:
        return False
    values = objects.assigned_to(node.id, point.scope)
    return bool(values) and all(
        isinstance(each.statement, ir.Assign)
        and _counts_parts(objects, each.statement.value, each, depth - 1)
        for each in values
    )


def _named(node: ir.Expr) -> bool:
    """Does the last name of it speak of accumulation: ``args.accum_steps``?"""
    if isinstance(node, ir.Call):
        node = node.func
    if isinstance(node, ir.Subscript) and isinstance(node.index, ir.Literal):
        return isinstance(node.index.value, str) and bool(_PARTS.search(node.index.value))
    return bool(_PARTS.search(ir.last_name(node)))


def _given_back(
    objects: Objects, function: ir.Function, kept: Path
) -> Iterator[tuple[Objects, CallSite]]:
    """The calls of a function that returns the sum or the list."""
    returned = (each.value for each, _ in placed(function.body) if isinstance(each, ir.Return))
    whole = kept[: [*(part[0] == "[" for part in kept), True].index(True)]
    if any(holds(value, each) for value in returned if value for each in (kept, whole)):
        yield from ((objects, site) for site in objects.callers(function))
        for module, site in calls_elsewhere(objects.module, function):
            yield objects_in(module), site


def _keeps_result(objects: Objects, site: CallSite) -> bool:
    """Does a caller add what it gets to a sum or a list?"""
    statement = site.point.statement
    if isinstance(statement, ir.AugAssign):
        return statement.value is site.call
    if isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        outer = statement.value
        return ir.last_name(outer.func) in KEEPS and any(
            each.value is site.call for each in outer.args
        )
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    paths = [path for each in targets for part in parts(each) if (path := path_of(part))]
    return any(
        True
        for point in objects.points_in(site.point.scope)
        for path in paths
        for _ in adds(point.statement, path)
    )


def _is_one_batch(loops: list[Loop], scope: Scope) -> bool:
    """Does the last of these loops go over batches, and those inside over something else?"""
    sources = over_batches(scope.body)

    def takes_batches(loop: Loop) -> bool:
        return loop in sources or any(
            isinstance(each, ir.Assign) and each.value in sources for each in loop.body
        )

    *inside, outer = loops
    return takes_batches(outer) and all(
        not takes_batches(loop) or _is_overparts(loop) for loop in inside
    )


def _is_overparts(loop: Loop) -> bool:
    """Does a loop go over the parts of what is called a batch?"""
    return isinstance(loop, ir.For) and any(
        _ONE_BATCH.search(name) for name in ir.names_in(loop.iterable)
    )
