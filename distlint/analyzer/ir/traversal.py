"""Walks over the IR that several analyses share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from distlint.analyzer.ir.children import children
from distlint.analyzer.ir.exceptions import Handler
from distlint.analyzer.ir.expressions import Display, Expr, Starred
from distlint.analyzer.ir.functions import Class, DefineClass, Function
from distlint.analyzer.ir.statements import Assign, Block, Stmt


def statements_of(block: Block) -> Iterator[Stmt]:
    """The statements of a block and of the blocks in it, without those of classes in it."""
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, Stmt):
            yield node
        if isinstance(node, (Stmt, Handler)) and not isinstance(node, DefineClass):
            stack.extend(children(node))


def own_nodes(block: Block) -> Iterator[Any]:
    """All nodes of a block but those of functions and classes that it defines."""
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (Function, Class)):
            stack.extend(children(node))


def assignments_in(block: Block) -> Iterator[tuple[Expr, Expr, int | None]]:
    """The assignments of a block, item by item: target, value, and which item of it is meant.

    Those of functions and classes that it defines are left out.
    """
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, Assign):
            for target in node.targets:
                items = target.items if isinstance(target, Display) else (target,)
                for position, item in enumerate(items):
                    item = item.value if isinstance(item, Starred) else item
                    yield item, node.value, position if item is not target else None
        elif isinstance(node, (Stmt, Handler)):
            stack.extend(child for child in children(node) if isinstance(child, (Stmt, Handler)))
