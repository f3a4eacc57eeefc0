"""Loaders whose batches all have one size, although the last one is not dropped."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.callers import called_elsewhere
from distlint.analyzer.static.names import expressions_in, names_given, nodes_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.training import Made

_DEPTH = 3
"""Through how many variables a number of samples is followed."""
_MAKES = frozenset({"zeros", "ones", "full", "empty", "new_zeros", "new_full", "new_empty"})
_SIZES = frozenset({"len", "size", "shape"})
_WRAPS = frozenset({"partial"})


def are_all_full(loader: Made) -> bool:
    """Is a short batch filled up, or left out, or is there none?"""
    return (
        any(_fills(function) for function in _collates(loader))
        or _leaves_out_short_ones(loader)
        or _is_cut(loader)
    )


def _collates(loader: Made) -> Iterator[ir.Function]:
    """The functions that make a batch of samples, of whatever file."""
    for objects, origin in loader.places("collate_fn"):
        yield from _functions(objects, origin)


def _functions(objects: Objects, origin: Origin) -> Iterator[ir.Function]:
    node = origin.node
    if isinstance(node, ir.Function):
        yield node
    elif isinstance(node, ir.Lambda):
        yield node.function
    elif isinstance(node, ir.Call):
        if ir.last_name(node.func) in _WRAPS:
            for argument in node.args[:1]:
                for inner in objects.origins(argument.value, origin.point):
                    if inner.node is not node:
                        yield from _functions(objects, inner)
        elif origin.site is not None:
            yield from _calls_of(objects, origin)
    elif isinstance(node, ir.Expr):
        there = called_elsewhere(objects.module, node)
        path = path_of(node)
        if there is not None:
            yield there[1]
        elif path is not None and len(path) == 2 and isinstance(node, ir.Attribute):
            cls = objects.own_class(node.value, origin.point)
            if cls is not None and path[1] in cls.methods:
                yield cls.methods[path[1]]


def _calls_of(objects: Objects, origin: Origin) -> Iterator[ir.Function]:
    """The ``__call__`` of the object that a call makes."""
    assert origin.site is not None
    cls = objects.callee(origin.site)
    if cls is None:
        there = called_elsewhere(objects.module, origin.site.call.func)
        cls = there[0].classes.get(there[1].owner) if there is not None else None
    if isinstance(cls, ir.Class) and "__call__" in cls.methods:
        yield cls.methods["__call__"]


def _fills(function: ir.Function) -> bool:
    """Does a function make batches of so many rows as it knows, and not as it is given?"""
    given = _from_samples(function)
    for statement, _ in placed(function.body):
        for node in nodes_of(statement):
            if isinstance(node, ir.Call) and _has_rows_of_its_own(node, given):
                return True
            if isinstance(node, ir.Binary) and node.op == "-" and _counts(node.right, given):
                return not _comes_from(node.left, given)
        if isinstance(statement, ir.While) and isinstance(statement.test, ir.Compare):
            if _counts(statement.test.left, given) and "<" in statement.test.ops:
                return True
    return False


def _from_samples(function: ir.Function) -> frozenset[str]:
    """The samples that a function is given, and the variables that are made of them."""
    given = {each.name for each in function.params} - {"self", "cls"}
    given = {name for name in given if "size" not in name}
    for _ in range(2):  # a loop may use what its end assigns
        for statement, _ in placed(function.body):
            if isinstance(statement, (ir.Assign, ir.For)):
                value = statement.value if isinstance(statement, ir.Assign) else statement.iterable
                if not given.isdisjoint(ir.names_in(value)):
                    given.update(names_given(statement))
    return frozenset(given)


def _has_rows_of_its_own(call: ir.Call, given: frozenset[str]) -> bool:
    """Is it ``zeros(BATCH, length)``?"""
    if ir.last_name(call.func) not in _MAKES or not call.args or call.args[0].star:
        return False
    first = call.args[0].value
    inner = len(call.args) > 1 and not call.args[1].keyword
    if isinstance(first, ir.Display):
        inner, first = len(first.items) > 1, first.items[0] if first.items else first
    sized = isinstance(first, ir.Literal) and isinstance(first.value, int) and first.value > 1
    named = path_of(first) is not None and "batch" in ir.last_name(first).lower()
    return inner and (sized or named) and not _comes_from(first, given)


def _counts(node: ir.Expr, given: frozenset[str]) -> bool:
    return (
        isinstance(node, ir.Call)
        and path_of(node.func) == ("len",)
        and len(node.args) == 1
        and isinstance(node.args[0].value, ir.Name)
        and node.args[0].value.id in given
    )


def _comes_from(node: ir.Expr, given: frozenset[str]) -> bool:
    return not given.isdisjoint(ir.names_in(node))


def _leaves_out_short_ones(loader: Made) -> bool:
    """Does a loop over the loader go on, or end, where a batch has another size?"""
    for point in loader.objects.uses.iterated_by(loader.call):
        loop = point.statement
        if not isinstance(loop, ir.For):
            continue
        for statement in loop.body:
            if not isinstance(statement, ir.If) or not ir.is_left(statement.body):
                continue
            test = statement.test
            if isinstance(test, ir.Compare) and test.ops in (("!=",), ("<",)):
                if not _SIZES.isdisjoint(ir.tokens_of(test.left)):
                    return True
    return False


def _is_cut(loader: Made) -> bool:
    """Does the data have a number of samples that a batch divides?"""
    return any(
        _cuts(where, origin.node, origin.point)
        for where, origin in loader.places("dataset")
        if isinstance(origin.node, ir.Expr)
    )


def _cuts(objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH) -> bool:
    for each in expressions_in(node):
        if isinstance(each, ir.Binary) and _is_multiple(each):
            return True
        if isinstance(each, ir.Name) and depth:
            for origin in objects.origins(each, point):
                if isinstance(origin.node, (ir.Binary, ir.Call)) and origin.node is not node:
                    if _cuts(objects, origin.node, origin.point, depth - 1):
                        return True
    return False


def _is_multiple(node: ir.Binary) -> bool:
    """Is it ``n // size * size`` or ``n - n % size``?"""
    if node.op == "*":
        pairs = ((node.left, node.right), (node.right, node.left))
        return any(
            isinstance(whole, ir.Binary)
            and whole.op == "//"
            and ir.tokens_of(whole.right) == ir.tokens_of(size)
            for whole, size in pairs
        )
    return node.op == "-" and isinstance(node.right, ir.Binary) and node.right.op == "%"
