"""Whether a path is made with what a batch holds: each rank has other samples, so other paths."""

from __future__ import annotations

import re
from collections.abc import Sequence

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.guards.rank_arithmetic import passed_values
from distlint.analyzer.static.reaching_definitions import Point

_LOADERS = re.compile(r"loaders?$|load$|batch(?:es)?$|(?:^|_)dl$|(?:^|_)(?:data_?)?iter(?:ator)?$")
_PASS_ON = frozenset({"zip", "tqdm", "enumerate", "list", "iter", "str", "int", "Path", "reversed"})
"""Functions that give back what they are given, or its parts."""
_OF_TEXT = frozenset(
    {
        "basename", "cpu", "decode", "detach", "format", "get", "item", "items", "join", "joinpath",
        "lower", "lstrip", "numpy", "relative_to", "relpath", "removeprefix", "removesuffix",
        "replace", "rsplit", "rstrip", "split", "splitext", "strip", "tolist", "with_name",
        "with_suffix", "zfill",
    }
)  # fmt: skip
"""Methods of texts, paths and tensors, and functions of ``os.path``, whose results differ too."""
_DEPTH = 6
"""How many assignments, loops and calls are followed."""


def is_of_sample(guards: Guards, path: ir.Expr, point: Point) -> bool:
    """Is a path made with an item of the batches that a loop, or a hook, is given?"""
    return _is_of_sample(guards, path, point, _DEPTH, set())


def _is_of_sample(
    guards: Guards, path: ir.Expr, point: Point, depth: int, seen: set[tuple[str, int]]
) -> bool:
    stack = [path]
    while stack:
        part = stack.pop()
        if isinstance(part, (ir.Name, ir.Attribute)):
            key = (ir.last_name(part), id(point.statement))
            if key not in seen:
                seen.add(key)
                if depth and _is_bound_to_sample(guards, part, point, depth - 1, seen):
                    return True
        stack.extend(_parts(part))
    return False


def _is_bound_to_sample(
    guards: Guards,
    node: ir.Name | ir.Attribute,
    point: Point,
    depth: int,
    seen: set[tuple[str, int]],
) -> bool:
    if not isinstance(node, ir.Name):
        return False
    given = guards.assignments.reaching(node, point)
    for value, where in (*given, *guards.assignments.put_into(node, point, given)):
        if where.scope.function is not point.scope.function or isinstance(
            where.statement, ir.AugAssign
        ):
            continue
        loop = where.statement
        if isinstance(loop, ir.For):
            if _counts(loop, node.id):
                continue
            if _is_loader(guards, value, where, depth):
                return True
        if _is_of_sample(guards, value, where, depth, seen):
            return True
    function = point.scope.function
    if function is None or not point.scope.has_param(node.id):
        return False
    if function.owner and node.id in guards.objects.catalogue.batch_params:
        return True
    return any(
        _is_of_sample(where, value, caller.point, depth, seen)
        for where, caller, value in passed_values(guards, node.id, point)
    )


def _is_loader(guards: Guards, iterable: ir.Expr, point: Point, depth: int) -> bool:
    """Is something that a loop goes through a loader, by its name or by that of its source?"""
    for node in _gone_through(iterable):
        if _LOADERS.search(ir.last_name(node)):
            return True
        if not depth or not isinstance(node, ir.Name):
            continue
        if any(
            isinstance(where.statement, ir.Assign) and _is_loader(guards, value, where, depth - 1)
            for value, where in guards.assignments.reaching(node, point)
            if where.scope.function is point.scope.function
        ):
            return True
        if any(
            _is_loader(where, value, caller.point, depth - 1)
            for where, caller, value in passed_values(guards, node.id, point)
        ):
            return True
    return False


def _gone_through(iterable: ir.Expr) -> Sequence[ir.Expr]:
    """The loader in ``enumerate(tqdm(loader))``, each of those in ``zip(first, second)``."""
    if not isinstance(iterable, ir.Call) or not iterable.args:
        return [iterable]
    return [each for argument in iterable.args for each in _gone_through(argument.value)]


def _counts(loop: ir.For, name: str) -> bool:
    """Is it the number of an item: ``for name, item in enumerate(loader)``?"""
    target, iterable = loop.target, loop.iterable
    while isinstance(iterable, ir.Call) and ir.last_name(iterable.func) == "tqdm" and iterable.args:
        iterable = iterable.args[0].value
    return (
        isinstance(iterable, ir.Call)
        and ir.last_name(iterable.func) == "enumerate"
        and isinstance(target, ir.Display)
        and bool(target.items)
        and name in ir.names_bound(target.items[0])
    )


def _parts(node: ir.Expr) -> Sequence[ir.Expr]:
    """The parts of an expression by which its value differs from sample to sample."""
    if isinstance(node, ir.Call):
        name, func = ir.last_name(node.func), node.func
        if name not in _PASS_ON | _OF_TEXT:
            return []
        held = [func.value] if isinstance(func, ir.Attribute) else []
        return [*held, *(each.value for each in node.args)]
    if isinstance(node, (ir.Attribute, ir.Subscript)):
        return [node.value]
    if isinstance(node, ir.Conditional):
        return [node.body, node.orelse]
    if isinstance(node, ir.Format):
        return node.parts
    if isinstance(node, ir.Binary):
        return [node.left, node.right]
    if isinstance(node, ir.Display):
        return node.items
    return []
