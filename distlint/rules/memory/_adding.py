"""Statements that add a value to a sum or to a list, and those that begin one."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.reaching_definitions import Path, holds, path_of
from distlint.rules.memory._returned import parts
from distlint.rules.memory._terms import carries

KEEPS = frozenset({"append", "extend", "appendleft"})


def adds(statement: ir.Stmt, loss: Path) -> Iterator[Path]:
    """What a statement adds a loss to, or the list that it puts it into."""
    kept: Path | None = None
    if isinstance(statement, ir.AugAssign) and statement.op.startswith("+"):
        if carries(statement.value, loss):
            kept = container(statement.target)
    elif isinstance(statement, ir.Assign) and len(statement.targets) == 1:
        value, target = statement.value, path_of(statement.targets[0])
        if isinstance(value, ir.Binary) and value.op == "+" and target is not None:
            for own, other in ((value.left, value.right), (value.right, value.left)):
                if path_of(own) == target and carries(other, loss):
                    kept = target
    elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        call = statement.value
        if isinstance(call.func, ir.Attribute) and call.func.attr in KEEPS and call.args:
            if carries(call.args[0].value, loss):
                kept = container(call.func.value)
    if kept is not None:
        yield kept


def container(node: ir.Expr) -> Path | None:
    """The variable that an item is of, or the variable itself."""
    while isinstance(node, ir.Subscript):
        node = node.value
    return path_of(node)


def begins(loop: ir.For | ir.While, kept: Path) -> bool:
    """Is the sum or the list given another value in each turn of a loop, or emptied?"""
    if isinstance(loop, ir.For) and any(path_of(i) == kept for i in parts(loop.target)):
        return True
    return begins_in(loop.body, kept)


def begins_in(body: ir.Block, kept: Path) -> bool:
    """Is the sum or the list given another value in a block, or emptied?"""
    for statement, _ in placed(body):
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                own = holds(statement.value, kept)
                if not own and any(container(item) == kept for item in parts(target)):
                    return True
        elif isinstance(statement, ir.Delete):
            if any(container(target) == kept for target in statement.targets):
                return True
        for item in calls_of(statement):
            if isinstance(item.func, ir.Attribute):
                if item.func.attr in ("clear", "pop", "popleft", "backward", "zero_", "reset"):
                    if path_of(item.func.value) == kept:
                        return True
    return False
