"""Where a tensor gets a size that depends on its values, followed to what a collective is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.across import Place, origins_across
from distlint.analyzer.static.names import Scope, calls_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Point, path_of

_PICKS = frozenset({"nonzero", "masked_select", "unique", "unique_consecutive", "argwhere"})
_KEEPS = frozenset({"nms", "batched_nms"})
"""Functions that return the indices of what is left."""
_COMPARES = frozenset({"<", ">", "<=", ">=", "==", "!="})
_TESTS = frozenset(
    {"eq", "ne", "gt", "lt", "ge", "le", "isfinite", "isnan", "logical_and", "logical_or"}
)
_NUMBERS = frozenset({"rank", "local_rank", "world_size", "epoch", "step", "get_rank", "len"})
_ROWS_STAY = frozenset(
    {
        "to", "cuda", "cpu", "float", "double", "half", "long", "int", "bool", "detach", "clone",
        "contiguous", "squeeze", "unsqueeze", "view", "reshape", "flatten", "softmax", "sigmoid",
        "argmax", "type", "bfloat16", "data",
    }
)  # fmt: skip
"""Methods whose result has as many rows as what they are called on."""
_MASKS = frozenset({"mask", "padding_mask", "ignore_mask", "invalid"})
_JOINS = frozenset({"cat", "concat", "hstack", "vstack"})
_AGREES = re.compile(
    r"^pad$|padded|pad_(across|to|and|tensor|sequence|if)|_pad$|gather_variable|^(all_|local_|max_)?(sizes|lens|lengths|shapes)$"
    r"|(max|local)_size$|_(sizes|lens|lengths|shapes)$"
)
"""Words of code that agrees on a size, or pads."""
_SAME_EVERYWHERE = frozenset(
    {"grad", "weight", "param", "params", "parameters", "named_parameters"}
)
"""Words for tensors that are the same on all ranks."""
_DEPTH = 6

Selection = tuple[Objects, int]
"""The statement that makes the tensor, and the file that it is in."""


def selection(objects: Objects, node: ir.Expr, point: Point) -> Selection | None:
    """Where a tensor was made whose size is a matter of its values; None if it may be agreed on."""
    if agrees(objects, point.scope):
        return None
    found = _Search().made(objects, node, point, _DEPTH)
    return (
        None
        if found is None or agrees(found[0], found[1].scope)
        else (found[0], found[1].statement.site)
    )


def agrees(objects: Objects, scope: Scope) -> bool:
    """Does a function have words for sizes that the ranks agree on?"""
    function = scope.function
    tokens = function.tokens if function is not None else objects.module.tokens
    return any(_AGREES.search(token) for token in tokens)


Made = tuple[Objects, Point]


class _Search:
    """One search from a use backwards."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()

    def made(self, objects: Objects, node: ir.Expr, point: Point, depth: int) -> Made | None:
        if not depth or (id(node), id(point.statement)) in self.seen:
            return None
        self.seen.add((id(node), id(point.statement)))
        node = _rows_of(node)
        if isinstance(node, ir.Subscript) and not _is_item(node):
            is_selected = not _names(node.value) & _SAME_EVERYWHERE
            found = is_selected and self._selects(objects, node.index, point, depth)
            return (objects, point) if found else None
        if isinstance(node, ir.Call):
            if ir.last_name(node.func) in _PICKS:
                return None if _names(node) & _SAME_EVERYWHERE else (objects, point)
            if ir.last_name(node.func) in _JOINS and node.args:
                return self._joined(objects, node.args[0].value, point, depth)
        return self._origin(objects, node, point, depth)

    def _origin(self, objects: Objects, node: ir.Expr, point: Point, depth: int) -> Made | None:
        """The maker, if all that one function may have assigned are of that kind."""
        for places in _by_scope(origins_across(objects, node, point)):
            found = [self._place(place, node, depth) for place in places]
            if found and None not in found:
                return found[0]
        return None

    def _place(self, place: Place, node: ir.Expr, depth: int) -> Made | None:
        where, origin = place
        made = origin.node
        if not isinstance(made, ir.Expr) or made is node or origin.attributes:
            return None
        if origin.item is not None:
            return (where, origin.point) if _is_tuple_of_picks(made) else None
        return self.made(where, made, origin.point, depth - 1)

    def _joined(self, objects: Objects, rows: ir.Expr, point: Point, depth: int) -> Made | None:
        """What is joined of a list to which selections alone are appended."""
        path = path_of(rows)
        if path is None or point.scope.function is None:
            return None
        found: Made | None = None
        for each in objects.points_in(point.scope):
            for call in calls_of(each.statement):
                if isinstance(call.func, ir.Attribute) and path_of(call.func.value) == path:
                    if call.func.attr != "append" or len(call.args) != 1:
                        return None
                    found = self.made(objects, call.args[0].value, each, depth - 1)
                    if found is None:
                        return None
        return found

    def _selects(self, objects: Objects, index: ir.Expr, point: Point, depth: int) -> bool:
        """Is an index a mask, or the positions of what is left?"""
        if _is_mask(index):
            return True
        if not depth or (path_of(index) is None and not isinstance(index, ir.Call)):
            return False
        places = origins_across(objects, index, point)
        return bool(places) and all(
            isinstance(origin.node, ir.Expr)
            and not origin.attributes
            and (origin.item is None or _is_tuple_of_picks(origin.node))
            and _is_mask(origin.node)
            for _, origin in places
        )


def _is_tuple_of_picks(node: ir.Expr) -> bool:
    """Does a call return a tuple of tensors with as many rows as were picked?"""
    if not isinstance(node, ir.Call):
        return False
    name = ir.last_name(node.func)
    many = any(a.keyword in {"return_counts", "return_inverse", "as_tuple"} for a in node.args)
    return (name in _PICKS and many) or (name == "where" and len(node.args) == 1)


def _by_scope(places: Iterable[Place]) -> Iterator[list[Place]]:
    found: dict[tuple[int, Scope], list[Place]] = {}
    for place in places:
        found.setdefault((id(place[0]), place[1].point.scope), []).append(place)
    yield from found.values()


def _rows_of(node: ir.Expr) -> ir.Expr:
    """A tensor without the methods that keep the number of its rows."""
    while (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and node.func.attr in _ROWS_STAY
    ):
        node = node.func.value
    return node


def _is_item(node: ir.Subscript) -> bool:
    return isinstance(node.index, (ir.Literal, ir.Display))


def _names(node: ir.Expr) -> frozenset[str]:
    return frozenset(ir.tokens_of(node))


def _is_mask(node: ir.Expr) -> bool:
    """Is it a comparison of tensors, or what picks positions by their values?"""
    node = _rows_of(node)
    if isinstance(node, ir.Compare):
        left = node.left
        is_tensor = isinstance(left, (ir.Name, ir.Attribute, ir.Subscript, ir.Call))
        return (
            set(node.ops) <= _COMPARES
            and is_tensor
            and not (isinstance(left, ir.Name) and len(left.id) <= 2)
            and _names(node).isdisjoint(_NUMBERS)
        )
    if isinstance(node, ir.Call):
        name = ir.last_name(node.func)
        return name in _PICKS | _KEEPS | _TESTS or (name == "where" and len(node.args) == 1)
    if isinstance(node, ir.Unary):
        return node.op == "~" and (_is_mask(node.value) or ir.last_name(node.value) in _MASKS)
    if isinstance(node, ir.Binary):
        return node.op in {"&", "|"} and (_is_mask(node.left) or _is_mask(node.right))
    return False
