"""What the names in a condition say about

Fixes are proven by analysis. This is for what an analysis may not see: a parameter that is called
``rank`` is no evidence for a bug, but reason enough to put no collective behind a test of it.
"""

from __future__ import annotations

import re

import libcst as cst

from distlint.fixers import names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.fixers.statements import Statement

_RANK_WORD = re.compile(
    r"(^|_)rank(_?zero)?$|is_rank|main_process|is_main|is_master|master_process|is_global_zero"
    r"|world_process_zero|process_index|is_primary|is_chief|is_coordinator"
)
_OF_ALL = re.compile(r"(^|_)(any|all|every)_rank$")
"""Functions such as ``any_rank``, whose result is the same on all ranks."""
_MAIN = re.compile(r"^is_(main_process|global_zero|world_process_zero)$")
_JOINS = frozenset({"init_process_group", "init_distributed", "init_distributed_mode"})
"""Functions behind which the processes know each other."""
_JOINS_IF_LAUNCHED = "init_distributed_mode"
"""A helper that many projects have: without a launcher it makes no group."""

_ON_SOME = re.compile(r"main_process|rank_zero|rank0|on_main|on_process|master_only|main_only")


def asks_rank(draft: Draft, test: cst.BaseExpression) -> bool:
    """Does a condition look like one about the rank and nothing else, as far as names tell?"""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return asks_rank(draft, test.expression)
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        return _says_rank(draft, test.left) or _says_rank(draft, test.comparisons[0].comparator)
    return _says_rank(draft, test)


def is_main_test(draft: Draft, test: cst.BaseExpression) -> bool:
    """Is one of the operands of a condition that this is rank 0?"""
    for operand in operands(test):
        if isinstance(operand, cst.Comparison) and len(operand.comparisons) == 1:
            target = operand.comparisons[0]
            sides = {draft.text(operand.left), draft.text(target.comparator)}
            if isinstance(target.operator, cst.Equal) and "0" in sides:
                if asks_rank(draft, operand):
                    return True
        elif _MAIN.search((names.dotted(operand) or "").rpartition(".")[2]):
            return True
    return False


def _says_rank(draft: Draft, node: cst.BaseExpression, depth: int = 2) -> bool:
    if isinstance(node, cst.Call):
        node = node.func
    last = (names.dotted(node) or "").rpartition(".")[2]
    if _is_of_rank(last):
        return True
    if not isinstance(node, cst.Name) or not depth:
        return False
    values = [
        found.value
        for found in draft.nodes(cst.Assign)
        if isinstance(found.targets[0].target, cst.Name)
        and found.targets[0].target.value == node.value
    ]
    return len(values) == 1 and any(
        _says_rank(draft, part, depth - 1)
        for part in names.inside(values[0])
        if isinstance(part, (cst.Name, cst.Attribute))
    )


def operands(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a condition is the ``and`` of; the condition itself, if it is none."""
    if not isinstance(test, cst.BooleanOperation) or not isinstance(test.operator, cst.And):
        return [test]
    left = operands(test.left) if not test.left.lpar else [test.left]
    return [*left, test.right]


def require_all(draft: Draft, statement: Statement) -> None:
    """All ranks have to come to a statement, as far as names around it tell."""
    node: cst.CSTNode = statement
    for parent in draft.ancestors(statement):
        if isinstance(parent, (cst.If, cst.While)) and node is not parent.test:
            if _mentions_rank(parent.test):
                raise CannotFix("only some ranks come here")
        if isinstance(parent, cst.With) and any(
            _ON_SOME.search(draft.text(item.item)) for item in parent.items
        ):
            raise CannotFix("ranks take turns here")
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            for row in parent.body:
                if row is node:
                    break
                if isinstance(row, cst.If) and _leaves(draft, row) and _mentions_rank(row.test):
                    raise CannotFix("some ranks have left")
        if isinstance(parent, cst.FunctionDef):
            if any(_ON_SOME.search(draft.text(d.decorator)) for d in parent.decorators):
                raise CannotFix("only some ranks run the function")
            return
        node = parent


def _mentions_rank(test: cst.BaseExpression) -> bool:
    return any(
        _is_of_rank((names.dotted(node) or "").rpartition(".")[2])
        for node in names.inside(test)
        if isinstance(node, (cst.Name, cst.Attribute))
    )


def _is_of_rank(name: str) -> bool:
    return _RANK_WORD.search(name) is not None and _OF_ALL.search(name) is None


def _leaves(draft: Draft, branch: cst.If) -> bool:
    row = branch.body.body[-1]
    last = row.body[-1] if isinstance(row, cst.SimpleStatementLine) else row
    return isinstance(last, (cst.Return, cst.Continue, cst.Break))


_STATES = frozenset({"Accelerator", "PartialState"})
"""Classes of Accelerate whose first object makes the process group."""


def joins_later(draft: Draft, place: Statement, depth: int = 3) -> bool:
    """Do the processes meet only behind a place, as far as its function and its callers tell?"""
    if joined_before(draft, place, surely=False):
        return False
    scope = names.scope_of(draft, place)
    calls = draft.nodes(cst.Call)
    if any(
        names.scope_of(draft, call) is scope
        and (
            _last(call) in (*_JOINS, "initialize")
            or (_last(call) in _STATES and draft.bounds(call)[0] > draft.bounds(place)[0])
        )
        for call in calls
    ):
        return True
    if not isinstance(scope, cst.FunctionDef) or not depth:
        return False
    return any(
        joins_later(draft, statements.statement_of(draft, call), depth - 1)
        for call in calls
        if _last(call) == scope.name.value and names.scope_of(draft, call) is not scope
    )


def _last(call: cst.Call) -> str:
    return (names.dotted(call.func) or "").rpartition(".")[2]


def joined_before(draft: Draft, place: cst.CSTNode, surely: bool = True) -> bool:
    """Has the process group been made when the place is reached, ``surely`` in one process too?"""
    blocks = {draft.tree, *draft.ancestors(place)}
    for node in draft.nodes(cst.Call):
        if _last(node) in _JOINS:
            if surely and _last(node) == _JOINS_IF_LAUNCHED:
                continue
            statement = statements.statement_of(draft, node)
            if isinstance(statement, cst.Expr) and draft.bounds(node)[0] < draft.bounds(place)[0]:
                if statements.block_of(draft, statement) in blocks:
                    return True
    return False
