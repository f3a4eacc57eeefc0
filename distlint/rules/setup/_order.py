"""What runs before what, and where a file joins the group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.source.requirements import is_among_tests

if TYPE_CHECKING:
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.source.document import Document

INIT = "torch.distributed.init_process_group"
_STARTS = frozenset(
    {
        "init_distributed", "init_device_mesh", "Accelerator", "PartialState", "Fabric",
        "init_process_group", "initialize", "launch", "setup",
    }
)  # fmt: skip
ASKS = frozenset({"is_initialized", "is_available"})
_GROUPS = frozenset({"GroupMember", "_get_default_group", "_default_pg"})
"""Names that lead to the default group, or to None where there is none."""

_SOMETIMES = (ir.If, ir.For, ir.While, ir.Try)
_PERHAPS = (ir.BoolOp, ir.Conditional, ir.Comprehension, ir.Lambda)
_LEAVES = (ir.Return, ir.Raise)
_MAX_CALLS = 4
"""How many calls around a statement are followed."""


def inits(objects: Objects) -> Iterator[CallSite]:
    """Where torch's default process group is made."""
    yield from objects.calls_to(INIT)


def backend_of(objects: Objects, init: CallSite) -> str:
    """The backend that is written down, ``""`` where none is, or it is not known."""
    value = objects.constant(objects.argument(init, "backend", 0), init.point)
    return value.lower() if isinstance(value, str) else ""


def is_nccl_on_gpus(objects: Objects, init: CallSite) -> bool:
    """``"nccl" if torch.cuda.is_available() else "gloo"``, also in a variable."""
    given = objects.argument(init, "backend", 0).value
    scope: Scope | None = init.point.scope
    while isinstance(given, ir.Name) and scope is not None:
        values = [each.statement for each in objects.assigned_to(given.id, scope)]
        if len(values) == 1 and isinstance(values[0], ir.Assign):
            given = values[0].value
        elif values:
            return False
        scope = scope.outer
    return (
        isinstance(given, ir.Conditional)
        and {"cuda", "is_available"} <= ir.tokens_of(given.test)
        and not isinstance(given.test, (ir.Not, ir.BoolOp))
        and isinstance(given.body, ir.Literal)
        and given.body.value == "nccl"
    )


def surely_before(first: Point, second: Point) -> bool:
    """Has a statement of the same scope run, in any case, when another one is reached?"""
    if first.scope is not second.scope or first.statement.site >= second.statement.site:
        return False
    around = {(id(here.owner), id(here.block)) for here in second.around}
    return all(
        (id(here.owner), id(here.block)) in around
        for here in first.around
        if isinstance(here.owner, _SOMETIMES)
    )


def surely_ran(objects: Objects, first: Point, second: Point) -> bool:
    """The same through functions: by calls of the file that run, or lead to, the statements."""
    return _ran(objects, tuple(_made_sure(objects, first, _MAX_CALLS)), second, _MAX_CALLS)


def _ran(objects: Objects, firsts: tuple[Point, ...], second: Point, depth: int) -> bool:
    if any(surely_before(each, second) for each in firsts):
        return True
    function = second.scope.function
    callers = objects.callers(function) if function is not None and depth else []
    return bool(callers) and all(_ran(objects, firsts, each.point, depth - 1) for each in callers)


def _made_sure(objects: Objects, point: Point, depth: int) -> Iterator[Point]:
    """A statement, and the calls of functions that execute it in any case."""
    yield point
    function = point.scope.function
    if function is None or not depth or function.generator or function.decorators:
        return
    if any(isinstance(here.owner, _SOMETIMES) for here in point.around):
        return
    if any(
        isinstance(other.statement, _LEAVES) and other.statement.site < point.statement.site
        for other in objects.points_in(point.scope)
    ):
        return
    for caller in objects.callers(function):
        if not any(isinstance(node, _PERHAPS) for node in nodes_of(caller.point.statement)):
            yield from _made_sure(objects, caller.point, depth - 1)


def torch_collectives(objects: Objects) -> Iterator[tuple[CallSite, str]]:
    """What the catalogue knows of torch.distributed, and of which kind it is."""
    for point in objects.points:
        for call in calls_of(point.statement):
            entry = objects.names.entry(call.func, point.scope)
            known = entry.collective if entry is not None else None
            if known is not None and known.framework == "torch":
                yield CallSite(call, point), known.kind


def asks_for_group(objects: Objects, point: Point) -> bool:
    """Does a statement stand under a test, or in a try, that may be about the group?"""
    if any(isinstance(here.owner, ir.Try) for here in point.around):
        return True
    return any(
        not (ASKS | _GROUPS).isdisjoint(ir.tokens_of(each))
        for test in tests_around(point)
        for each in meant(objects, test, point)
    )


def meant(objects: Objects, test: ir.Expr, point: Point) -> Iterator[ir.Expr]:
    """A condition, and what its function assigned to the variables in it before."""
    yield test
    names = {node.id for node in expressions_in(test) if isinstance(node, ir.Name)}
    for name in sorted(names):
        for earlier in objects.assigned_to(name, point.scope):
            statement = earlier.statement
            if isinstance(statement, ir.Assign) and statement.site < point.statement.site:
                yield statement.value


def may_be_made(objects: Objects, use: CallSite) -> bool:
    """Does anything that may make the group run before a call, or may its function run after?"""
    if asks_for_group(objects, use.point):
        return True
    for point in objects.points_in(use.point.scope):
        if point.statement.site >= use.point.statement.site:
            continue
        if isinstance(point.statement, ir.Return):
            return True
        for call in calls_of(point.statement):
            name = ir.last_name(call.func)
            if name in _STARTS or any(word in name.lower() for word in ("init", "setup", "join")):
                return True
            function = objects.callee(CallSite(call, point))
            if isinstance(function, ir.Function) and "init_process_group" in function.tokens:
                return True
    return False


def is_test(document: Document, point: Point) -> bool:
    """Is it code that tests something, on one machine and by itself?"""
    function = point.scope.function
    return (
        document.is_test
        or (function is not None and function.name.startswith("test_"))
        or is_among_tests(document.path)
    )


def is_reached(objects: Objects, point: Point) -> bool:
    """Does a script come to a statement by itself: by its body, a call, a spawn, or a method?"""
    function = point.scope.function
    if function is None or function.owner:
        return True
    callers = objects.callers(function)
    if any(each.point.scope.function is None for each in callers):
        return True
    if callers and "__main__" in objects.module.tokens:
        return True
    return any(
        isinstance(argument.value, ir.Name) and argument.value.id == function.name
        for site in objects.calls({"spawn", "launch", "start_processes", "Process"})
        for argument in site.call.args
    )


def tests_around(point: Point) -> Iterator[ir.Expr]:
    """The conditions that a statement stands under, in its function."""
    for here in point.around:
        if isinstance(here.owner, (ir.If, ir.While)):
            yield here.owner.test


def last_of(node: ir.Expr) -> str:
    """The last name of a variable or an attribute chain, ``""`` for anything else."""
    path = path_of(node)
    return path[-1] if path else ""
