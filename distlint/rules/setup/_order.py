"""What runs before what, environment variables that a file writes, and where it joins the group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.bindings import Point, path_of
from distlint.analyzer.guards import imported_options
from distlint.analyzer.names import calls_of, expressions_in
from distlint.analyzer.objects import CallSite
from distlint.source.requirements import is_among_tests

if TYPE_CHECKING:
    from distlint.analyzer.objects import Objects
    from distlint.source.document import Document

INIT = "torch.distributed.init_process_group"
_ENVIRON = ("os.environ", "environ")
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


@dataclass(frozen=True, slots=True)
class Written:
    """An environment variable that a statement sets; ``default`` leaves one that is there."""

    name: str
    value: ir.Expr
    point: Point
    default: bool = False


def inits(objects: Objects) -> Iterator[CallSite]:
    """Where torch's default process group is made."""
    yield from objects.calls_to(INIT)


def backend_of(objects: Objects, init: CallSite) -> str:
    """The backend that is written down, ``""`` where none is, or it is not known."""
    value = objects.constant(objects.argument(init, "backend", 0), init.point)
    return value if isinstance(value, str) else ""


def is_alone(objects: Objects, init: CallSite) -> bool:
    """Is it a group of one process, by a constant?"""
    size = objects.argument(init, "world_size", 3)
    if objects.constant(size, init.point) == 1:
        return True
    imported = imported_options(objects.module, size.value) if size.value is not None else []
    return bool(imported) and all(
        isinstance(each, ir.Literal) and each.value == 1 for each in imported
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
    for earlier in objects.points_in(point.scope) if names else ():
        statement = earlier.statement
        if isinstance(statement, ir.Assign) and statement.site < point.statement.site:
            if any(isinstance(each, ir.Name) and each.id in names for each in statement.targets):
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
        or (function is not None and "test" in function.name.lower())
        or is_among_tests(document.path)
    )


def is_reached(objects: Objects, point: Point) -> bool:
    """Does a script come to a statement by itself: by its body, a call, a spawn, or a method?"""
    function = point.scope.function
    if function is None or function.owner:
        return True
    if objects.callers(function) and "__main__" in objects.module.tokens:
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


def environment_read(objects: Objects, node: ir.Expr, point: Point) -> str:
    """``RANK`` of ``os.environ["RANK"]``, ``os.getenv("RANK", 0)``, ``os.environ.get("RANK")``."""
    if isinstance(node, ir.Subscript):
        if objects.names.dotted(node.value, point.scope) in _ENVIRON:
            return _text(node.index)
        if _text(node.index) and any(
            isinstance(origin.node, ir.Comprehension)
            and origin.node.kind == "dict"
            and "environ" in ir.tokens_of(origin.node.element)
            for origin in objects.origins(node.value, point)
        ):
            return _text(node.index)  # of a dict of variables
    elif isinstance(node, ir.Call) and node.args:
        dotted = objects.names.dotted(node.func, point.scope)
        if dotted in ("os.getenv", "getenv", "os.environ.get", "environ.get"):
            return _text(node.args[0].value)
    return ""


def environment_writes(objects: Objects) -> Iterator[Written]:
    """``os.environ[...] = ...``, ``os.environ.setdefault``, ``os.environ.update``, ``putenv``."""
    if "environ" not in objects.module.tokens and "putenv" not in objects.module.tokens:
        return
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                if isinstance(target, ir.Subscript) and _is_environ(objects, target.value, point):
                    if _text(target.index):
                        yield Written(_text(target.index), statement.value, point)
        elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
            yield from _written_by(objects, statement.value, point)


def _written_by(objects: Objects, call: ir.Call, point: Point) -> Iterator[Written]:
    func = call.func
    if not isinstance(func, ir.Attribute):
        return
    if func.attr == "update" and _is_environ(objects, func.value, point):
        for argument in call.args:
            if argument.keyword:
                yield Written(argument.keyword, argument.value, point)
            elif isinstance(argument.value, ir.DictDisplay):
                for key, value in zip(argument.value.keys, argument.value.values, strict=True):
                    if key is not None and _text(key):
                        yield Written(_text(key), value, point)
    elif len(call.args) == 2 and _text(call.args[0].value):
        name, value = _text(call.args[0].value), call.args[1].value
        if func.attr == "setdefault" and _is_environ(objects, func.value, point):
            yield Written(name, value, point, default=True)
        elif objects.names.dotted(func, point.scope) == "os.putenv":
            yield Written(name, value, point)


def _is_environ(objects: Objects, node: ir.Expr, point: Point) -> bool:
    return objects.names.dotted(node, point.scope) in _ENVIRON


def _text(node: ir.Expr) -> str:
    return node.value if isinstance(node, ir.Literal) and isinstance(node.value, str) else ""


def last_of(node: ir.Expr) -> str:
    """The last name of a variable or an attribute chain, ``""`` for anything else."""
    path = path_of(node)
    return path[-1] if path else ""
