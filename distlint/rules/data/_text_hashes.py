"""Numbers that are made of the ``hash()`` of a text, and which values are texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point, path_of

_DEPTH = 5
"""Through how many variables a text is followed."""

_TEXT = re.compile(
    r"tok|word|text|str|name|path|file|key|sent|char|label|url|line|prompt|query"
    r"|uuid|guid|^uid$|(?:doc|utt|utterance|video|clip|audio|speaker|spk|user)_?id$",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"^(?:len|int|float|n|i|j|k)$|idx|index|seed|count|step|num|offset|length|size"
)
_TEXTS = frozenset(
    {
        "glob", "iglob", "rglob", "listdir", "walk", "split", "rsplit", "splitlines", "readlines",
        "reader", "DictReader", "iterdir", "open", "read_text", "scandir",
    }
)  # fmt: skip
"""Functions whose values hold texts."""
_IS_TEXT = frozenset(
    {
        "str", "repr", "basename", "dirname", "join", "strip", "lower", "upper", "replace",
        "encode", "decode", "format", "hexdigest", "rstrip", "lstrip", "read", "as_posix", "Path",
        "bytes", "tobytes", "dumps", "casefold", "relpath", "abspath",
    }
)  # fmt: skip
_KEEPS = frozenset(
    {"sorted", "list", "tuple", "set", "reversed", "enumerate", "tqdm", "iter", "next", "zip",
     "frozenset", "unique", "filter", "fromkeys"}
)  # fmt: skip
_ORDERS = frozenset({"sorted", "sort", "min", "max", "nsmallest", "nlargest"})
_SEEDS = frozenset(
    {"seed", "manual_seed", "Random", "RandomState", "default_rng", "seed_everything"}
)


def takes_hash(objects: Objects, node: object, point: Point) -> bool:
    """Does an expression make a number, an order or a seed of the hash of a text?"""
    if isinstance(node, ir.Binary):
        return node.op in ("%", "&") and _is_hash(objects, node.left, point)
    if not isinstance(node, ir.Call):
        return False
    name = ir.last_name(node.func)
    values = [each.value for each in node.args if not each.star]
    if name == "divmod" or name in _SEEDS:
        return any(_is_hash(objects, each, point) for each in values[:1])
    return (
        name in _ORDERS
        and any(each.keyword == "key" and _orders_by_hash(each.value) for each in node.args)
        and any(_is_text(objects, each, point, _DEPTH) for each in _ordered(node))
    )


def holds_text(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is a value a text, or does it hold texts?"""
    return _is_text(objects, node, point, _DEPTH)


def _orders_by_hash(node: ir.Expr) -> bool:
    """Is it ``hash``, or ``lambda x: hash(x)``?"""
    if isinstance(node, ir.Lambda):
        return any(
            path_of(each.func) == ("hash",)
            for statement in node.function.body
            for each in nodes_of(statement)
            if isinstance(each, ir.Call)
        )
    return path_of(node) == ("hash",)


def _ordered(call: ir.Call) -> Iterator[ir.Expr]:
    if isinstance(call.func, ir.Attribute):
        yield call.func.value
    yield from (each.value for each in call.args if each.keyword is None and not each.star)


def _is_hash(objects: Objects, node: ir.Expr, point: Point) -> bool:
    while isinstance(node, ir.Call) and ir.last_name(node.func) in ("abs", "int") and node.args:
        node = node.args[0].value
    if isinstance(node, ir.Name):
        return any(
            isinstance(origin.node, ir.Call) and _is_hash(objects, origin.node, origin.point)
            for origin in objects.origins(node, point)
            if origin.call is not None
        )
    return (
        isinstance(node, ir.Call)
        and path_of(node.func) == ("hash",)
        and len(node.args) == 1
        and _is_text(objects, node.args[0].value, point, _DEPTH)
    )


def _is_text(objects: Objects, node: ir.Expr, point: Point, depth: int) -> bool:
    """Is a value a text, or does it hold texts: by its name, or by where it comes from?"""
    if isinstance(node, ir.Literal):
        return isinstance(node.value, (str, bytes))
    if isinstance(node, ir.Format):
        return True
    if isinstance(node, ir.Display):
        return any(_is_text(objects, each, point, depth) for each in node.items)
    if isinstance(node, ir.Comprehension):
        return _is_text(objects, node.element, point, depth) or _is_item(
            objects, node.element, node, point, depth
        )
    if isinstance(node, ir.Binary):
        sides = (node.left, node.right)
        return node.op == "+" and any(_is_text(objects, each, point, depth) for each in sides)
    if isinstance(node, ir.Call):
        return _is_text_of_call(objects, node, point, depth)
    if isinstance(node, ir.Subscript):
        if isinstance(node.index, ir.Literal) and isinstance(node.index.value, str):
            return _TEXT.search(node.index.value) is not None
        return _is_text(objects, node.value, point, depth)
    name = ir.last_name(node)
    if not name or _NUMBER.search(name):
        return False
    return _TEXT.search(name) is not None or (
        depth > 0
        and isinstance(node, (ir.Name, ir.Attribute))
        and _is_given_text(objects, node, point, depth - 1)
    )


def _is_text_of_call(objects: Objects, node: ir.Call, point: Point, depth: int) -> bool:
    name = ir.last_name(node.func)
    if name in _IS_TEXT or name in _TEXTS:
        return True
    return name in _KEEPS and any(
        _is_text(objects, each.value, point, depth) for each in node.args if not each.keyword
    )


def _is_given_text(objects: Objects, node: ir.Expr, point: Point, depth: int) -> bool:
    """Is it a text by what a variable is assigned, or by what a loop goes through?"""
    for part in nodes_of(point.statement):
        if isinstance(part, ir.Comprehension) and any(e is node for e in expressions_in(part)):
            if _is_item(objects, node, part, point, depth):
                return True
    for here in point.around:
        loop = here.owner
        if isinstance(loop, ir.For) and path_of(node) in _targets(loop.target):
            outer = next((p for p in objects.points if p.statement is loop), point)
            return _is_text(objects, loop.iterable, outer, depth)
    return any(
        isinstance(origin.node, ir.Expr)
        and origin.node is not node
        and _is_text(objects, origin.node, origin.point, depth)
        for origin in objects.origins(node, point)
    )


def _is_item(
    objects: Objects, node: ir.Expr, part: ir.Comprehension, point: Point, depth: int
) -> bool:
    """Is it a variable of a comprehension that goes through texts?"""
    return depth > 0 and any(
        path_of(node) in _targets(target) and _is_text(objects, iterable, point, depth - 1)
        for target, iterable, _ in part.clauses
    )


def _targets(target: ir.Expr) -> Iterator[tuple[str, ...] | None]:
    """The variables of a loop, not the number that ``enumerate`` counts."""
    if isinstance(target, ir.Display):
        for item in target.items[-1:]:
            yield from _targets(item)
    else:
        yield path_of(target)
