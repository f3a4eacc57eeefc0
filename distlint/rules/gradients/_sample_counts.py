"""Counts of samples that are counts of tensors: the length of a batch of several fields."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, names_given, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._shard_means import inner_of, shards_of

_MOVES = frozenset({"to", "cuda"})
_LOOKS = frozenset({"len", "type", "isinstance", "print"})
"""Calls that take a batch for neither one tensor nor several."""

_SIZES = frozenset({"shape", "size", "len", "batch_size", "numel"})


def counted_fields(objects: Objects) -> Iterator[tuple[ir.Stmt, str]]:
    """The statements that add the number of a batch's fields to a count, and the batch's name.

    The loader gives each rank a part, and joins the samples in torch's own way.
    """
    shards = shards_of(objects)
    for point in objects.points:
        loop = point.statement
        if not isinstance(loop, ir.For) or not (name := _item_of(loop)):
            continue
        inside = [
            each
            for each in objects.points_in(point.scope)
            if any(here.owner is loop and here.block is loop.body for here in each.around)
        ]
        counts = [each.statement for each in inside if _counts(each.statement, name)]
        if not counts or not _has_fields(inside, name):
            continue
        found = [*shards.made(loop.iterable, point), *shards.made(inner_of(loop.iterable), point)]
        if found and all(each.option("collate_fn").absent for each in found):
            yield from ((statement, name) for statement in counts)


def _item_of(loop: ir.For) -> str:
    """The variable that holds a batch, ``""`` if the loop takes it apart itself."""
    target, iterable = loop.target, loop.iterable
    while isinstance(iterable, ir.Call) and iterable.args:
        if ir.last_name(iterable.func) == "enumerate" and isinstance(target, ir.Display):
            target = target.items[-1]
        iterable = iterable.args[0].value
    return target.id if isinstance(target, ir.Name) else ""


def _counts(statement: ir.Stmt, name: str) -> bool:
    """``n += len(batch)``, ``n = n + len(batch)``, ``total += loss * len(batch)``."""
    value: ir.Expr | None = None
    if isinstance(statement, ir.AugAssign) and statement.op.startswith("+"):
        value = statement.value
    elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Binary):
        total = path_of(statement.value.left)
        if statement.value.op == "+" and any(path_of(t) == total for t in statement.targets):
            value = statement.value.right
    if isinstance(value, ir.Binary) and value.op == "*":
        left, right = value.left, value.right
        value, factor = (right, left) if _is_length(right, name) else (left, right)
        if not _SIZES.isdisjoint(ir.tokens_of(factor)):
            return False
    return value is not None and _is_length(value, name)


def _is_length(node: ir.Expr, name: str) -> bool:
    return (
        isinstance(node, ir.Call)
        and path_of(node.func) == ("len",)
        and [path_of(each.value) for each in node.args] == [(name,)]
    )


def _has_fields(inside: list[Point], name: str) -> bool:
    """Is a batch used as several tensors, and never as one?"""
    indices: set[object] = set()
    is_apart = False
    for point in inside:
        statement = point.statement
        if name in names_given(statement):
            return False
        if isinstance(statement, ir.Assign) and path_of(statement.value) == (name,):
            if not all(isinstance(each, ir.Display) for each in statement.targets):
                return False  # another name for it
            is_apart = True
        for node in nodes_of(statement):
            if _is_whole(node, name):
                return False
            if isinstance(node, ir.Subscript) and path_of(node.value) == (name,):
                if not isinstance(node.index, ir.Literal):
                    return False
                indices.add(node.index.value)
            is_apart = is_apart or _is_moved(node, name)
    return is_apart or len(indices) > 1 or any(isinstance(each, str) for each in indices)


def _is_whole(node: object, name: str) -> bool:
    """Is a batch given to a call as it is, or one of its methods called?"""
    if not isinstance(node, ir.Call):
        return False
    if isinstance(node.func, ir.Attribute) and path_of(node.func.value) == (name,):
        return True
    is_given = any(path_of(part) == (name,) for each in node.args for part in _items(each.value))
    return is_given and ir.last_name(node.func) not in _LOOKS


def _items(node: ir.Expr) -> tuple[ir.Expr, ...]:
    inner = node.value if isinstance(node, ir.Starred) else node
    return inner.items if isinstance(inner, ir.Display) else (inner,)


def _is_moved(node: object, name: str) -> bool:
    """Is one of its items moved to a device: ``batch[0].cuda()``?"""
    return (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and node.func.attr in _MOVES
        and isinstance(node.func.value, ir.Subscript)
        and path_of(node.func.value.value) == (name,)
        and not any(part.value == "cpu" for part in _literals(node))
    )


def _literals(call: ir.Call) -> Iterator[ir.Literal]:
    for each in call.args:
        yield from (p for p in expressions_in(each.value) if isinstance(p, ir.Literal))
