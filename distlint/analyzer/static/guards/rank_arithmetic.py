"""Whether a number, or a name with it, is computed from the rank, so that it differs on each rank.

A test of the rank does not count, and neither does what folds ranks together: ``rank // 8``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.guards.rank_tests import rank_words
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.classes import is_static
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

_RANK = re.compile(
    r"(?:^|_)rank(?:_?id)?$|process_i(?:d|ndex)$|procid$|^slurm_localid$|(?:gpu|worker|shard|device)_?(?:id|index)$",
    re.IGNORECASE,
)
_COUNT_OF_RANKS = re.compile(r"(?:^|_)(?:n|num|max|per)_?rank$", re.IGNORECASE)
_FOLDS = frozenset({"%", "//", ">>", "&"})
_KEEPS = frozenset(
    {"int", "str", "float", "abs", "max", "min", "range", "trange", "tqdm", "zip", "count"}
    | {"format", "join", "Path", "zfill", "as_posix", "with_suffix", "with_name", "joinpath"}
)
"""Functions and methods whose results differ if what they are given does."""
_DEPTH = 5
"""How many assignments and calls are followed."""


def is_made_from_rank(guards: Guards, node: ir.Expr, point: Point) -> bool:
    """May the value of an expression differ on each rank, as it is computed from the rank?"""
    return _Search(_DEPTH, frozenset()).finds(guards, node, point)


class _Search:
    """The search for the rank in what a value is computed from."""

    def __init__(self, depth: int, known: frozenset[int]) -> None:
        self._depth = depth
        self._known = known  # the statements that were followed

    def finds(self, guards: Guards, node: ir.Expr, point: Point) -> bool:
        stack = [node]
        while stack:
            part = stack.pop()
            if _is_rank(part):
                return True
            if isinstance(part, (ir.Name, ir.Attribute)):
                if self._in_assignments(guards, part, point):
                    return True
            elif isinstance(part, ir.Call) and self._in_returns(guards, part, point):
                return True
            stack.extend(_operands(part))
        return False

    def _in_assignments(self, guards: Guards, node: ir.Name | ir.Attribute, point: Point) -> bool:
        for value, where in guards.assignments.reaching(node, point):
            statement = where.statement
            inner = self._after(statement)
            if inner is None:
                continue
            if isinstance(statement, ir.AugAssign):
                if statement.op.rstrip("=") in _FOLDS:
                    continue
                if inner.finds(guards, statement.target, where):
                    return True
            if inner.finds(guards, value, where):
                return True
        return isinstance(node, ir.Name) and self._in_arguments(guards, node.id, point)

    def _in_arguments(self, guards: Guards, name: str, point: Point) -> bool:
        inner = self._after(point.scope.function)
        return inner is not None and any(
            inner.finds(where, value, caller.point)
            for where, caller, value in passed_values(guards, name, point)
        )

    def _in_returns(self, guards: Guards, call: ir.Call, point: Point) -> bool:
        called = guards.called(CallSite(call, point))
        if called is None:
            return False
        where, scope = called
        inner = self._after(scope.function)
        return inner is not None and any(
            isinstance(statement, ir.Return)
            and statement.value is not None
            and inner.finds(where, statement.value, Point(scope, around))
            for statement, around in placed(scope.body)
        )

    def _after(self, followed: object) -> _Search | None:
        """The search within what is followed, None if it has been followed or is too far."""
        if self._depth == 0 or id(followed) in self._known:
            return None
        return _Search(self._depth - 1, self._known | {id(followed)})


def passed_values(
    guards: Guards, name: str, point: Point
) -> Iterator[tuple[Guards, CallSite, ir.Expr]]:
    """What the callers of a function pass for a parameter, also in what they spread out."""
    function = point.scope.function
    if function is None or not point.scope.has_param(name):
        return
    places = [param.name for param in function.params if not param.star]
    position = places.index(name) if name in places else len(places)
    is_bound = bool(function.owner) and not is_static(function)  # a constructor's call, too
    for where, caller in guards.all_callers(point.scope):
        passed = where.objects.argument(caller, name, position - is_bound)
        if passed.value is not None:
            yield where, caller, passed.value
        elif not passed.absent:
            for each in caller.call.args:
                if each.star:
                    yield where, caller, each.value


def _is_rank(node: ir.Expr) -> bool:
    """Is it the rank itself: a variable, ``get_rank()``, or a variable of the environment?"""
    if isinstance(node, ir.Call):
        if ir.last_name(node.func) in {"get", "getenv"} and node.args:
            return _is_rank_word(_text(node.args[0].value))
        return _is_rank_word(ir.last_name(node.func))
    if isinstance(node, ir.Subscript):
        return _is_rank_word(_text(node.index))
    return _is_rank_word(ir.last_name(node))


def _is_rank_word(word: str) -> bool:
    return bool(_RANK.search(word) and not _COUNT_OF_RANKS.search(word) and _is_of_process(word))


def _is_of_process(word: str) -> bool:
    """Is it no other rank, such as that of a matrix?"""
    return "rank" not in word.lower() or bool(rank_words([word]))


def _text(node: ir.Expr) -> str:
    return node.value if isinstance(node, ir.Literal) and isinstance(node.value, str) else ""


def _operands(node: ir.Expr) -> Sequence[ir.Expr]:
    """The parts that an expression takes its value from: not what it tests or folds."""
    if isinstance(node, ir.Binary):
        if node.op == "%" and isinstance(node.left, (ir.Literal, ir.Format)):
            return [node.right]  # it is formatted
        return [] if node.op in _FOLDS else [node.left, node.right]
    if isinstance(node, ir.Conditional):
        return [node.body, node.orelse]
    if isinstance(node, ir.BoolOp):
        return node.values
    if isinstance(node, ir.Subscript):
        return [node.index]  # another item on each rank
    if isinstance(node, ir.Slice):
        return [part for part in (node.lower, node.upper, node.step) if part is not None]
    if isinstance(node, ir.Format):
        return node.parts
    if isinstance(node, ir.Display):
        return node.items
    if isinstance(node, (ir.Unary, ir.Starred, ir.Walrus)):
        return [node.value]
    return _operands_of_call(node) if isinstance(node, ir.Call) else []


def _operands_of_call(call: ir.Call) -> Sequence[ir.Expr]:
    name = ir.last_name(call.func)
    if name == "enumerate":
        return [each.value for index, each in enumerate(call.args) if index or each.keyword]
    if name not in _KEEPS:
        return []
    held = [call.func.value] if isinstance(call.func, ir.Attribute) else []
    return [*held, *(each.value for each in call.args)]
