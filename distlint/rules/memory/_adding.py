"""Statements that add a value to a sum or to a list, and those that begin one."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.reaching_definitions import Path, holds, path_of, place_of
from distlint.rules.memory._returned import container, gives, parts
from distlint.rules.memory._terms import carries

KEEPS = frozenset({"append", "extend", "appendleft"})


def adds(statement: ir.Stmt, loss: Path) -> Iterator[Path]:
    """What a statement adds a loss to, or the list that it puts it into."""
    kept: Path | None = None
    if isinstance(statement, ir.AugAssign) and statement.op.startswith("+"):
        if carries(statement.value, loss):
            kept = _kept_in(statement.target)
    elif isinstance(statement, ir.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if any(_adds_to(arm, target, loss) for arm in _arms(statement.value)):
            kept = _kept_in(target)
    elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        call = statement.value
        if isinstance(call.func, ir.Attribute) and call.func.attr in KEEPS and call.args:
            if carries(call.args[0].value, loss):
                kept = _kept_in(call.func.value)
        elif isinstance(call.func, ir.Attribute) and call.func.attr == "add_" and call.args:
            if carries(call.args[0].value, loss):
                kept = _kept_in(_scaled(call.func.value))
    if kept is not None:
        yield kept


def _kept_in(target: ir.Expr) -> Path | None:
    """The sum or the list: a variable, an item of a dict, or a dict with an item for each name."""
    return place_of(target) or container(target)


def _arms(node: ir.Expr) -> Iterator[ir.Expr]:
    """The values of ``loss if mean is None else 0.9 * mean + 0.1 * loss``."""
    if isinstance(node, ir.Conditional):
        yield from _arms(node.body)
        yield from _arms(node.orelse)
    else:
        yield node


def _adds_to(node: ir.Expr, target: ir.Expr, loss: Path) -> bool:
    """Is it what the target holds, as it is or times a number, and the loss?"""
    terms = list(_terms(node))
    return len(terms) > 1 and any(
        _is_held(own, target) and any(carries(each, loss) for each in terms if each is not own)
        for own in terms
    )


def _terms(node: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(node, ir.Binary) and node.op in ("+", "-"):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _is_held(node: ir.Expr, target: ir.Expr) -> bool:
    while isinstance(node, ir.Binary) and node.op in ("*", "/"):
        if node.op == "*" and _is_same(node.right, target):
            return True
        node = node.left
    return _is_same(node, target)


def _is_same(node: ir.Expr, target: ir.Expr) -> bool:
    """Is it the variable, or for an item of one this item, ``total[name]``, ``total.get(name)``?"""
    path = path_of(target)
    if path is not None:
        return path_of(node) == path
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        if node.func.attr in ("get", "setdefault"):
            return container(target) is not None and path_of(node.func.value) == container(target)
    return isinstance(node, ir.Subscript) and container(node) == container(target) is not None


def _scaled(node: ir.Expr) -> ir.Expr:
    """What ``mean.mul_(0.9)`` is called on."""
    while (
        isinstance(node, ir.Call)
        and isinstance(node.func, ir.Attribute)
        and node.func.attr in ("mul_", "div_")
    ):
        node = node.func.value
    return node


def begins(loop: ir.For | ir.While, kept: Path) -> bool:
    """Is the sum or the list given another value in each turn of a loop, or emptied?"""
    if isinstance(loop, ir.For) and any(gives(i, kept) for i in parts(loop.target)):
        return True
    return begins_in(loop.body, kept)


def begins_in(body: ir.Block, kept: Path) -> bool:
    """Is the sum or the list given another value in a block, or emptied?"""
    for statement, _ in placed(body):
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                own = holds(statement.value, kept)
                if not own and any(_starts(item, kept) for item in parts(target)):
                    return True
        elif isinstance(statement, ir.Delete):
            if any(_starts(target, kept) for target in statement.targets):
                return True
        for item in calls_of(statement):
            if isinstance(item.func, ir.Attribute):
                if item.func.attr in ("clear", "pop", "popleft", "backward", "zero_", "reset"):
                    if gives(item.func.value, kept):
                        return True
    return False


def _starts(target: ir.Expr, kept: Path) -> bool:
    return gives(target, kept) or container(target) == kept
