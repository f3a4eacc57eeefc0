"""Where a decision is in the source: the branch or the loop, and the blocks below it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic.continuations import Continuation, RestOfBlock
from distlint.analyzer.symbolic.execution_log import Decided
from distlint.analyzer.symbolic.state import Frame


def is_inside_branch(k: Continuation | None, head: Decided) -> bool:
    """Is a continuation inside an arm of the branch that was decided?"""
    blocks = arms_of(head)
    while k is not None:
        if isinstance(k, RestOfBlock) and any(k.block is block for block in blocks):
            return True
        k = k.next
    return False


def sites_below(head: Decided) -> frozenset[int]:
    """Sites of the statements inside the branch that was decided; none if it is no branch."""
    last: ir.If | None = None
    stack: list[Any] = list(_body_of(head.frame))
    while stack:
        node = stack.pop()
        # sites count up: the condition belongs to the last statement that begins before it
        if isinstance(node, ir.If) and node.site <= head.site:
            last = node if last is None or node.site > last.site else last
        if isinstance(node, (ir.Stmt, ir.Handler)):
            stack.extend(c for c in ir.children(node) if isinstance(c, (ir.Stmt, ir.Handler)))
    if last is None:
        return frozenset()
    below = {
        statement.site
        for block in (*_blocks_below(last.body), *_blocks_below(last.orelse))
        for statement in block
    }
    # the condition of another kind of statement further down is not this branch's
    return frozenset(below) if not below or head.site < min(below) else frozenset()


def arms_of(head: Decided) -> list[ir.Block]:
    """The blocks below the branch that was decided, nested ones included."""
    site = head.site
    stack: list[Any] = list(_body_of(head.frame))
    while stack:
        node = stack.pop()
        if isinstance(node, (ir.If, ir.For, ir.While)) and node.site == site:
            return [*_blocks_below(node.body), *_blocks_below(node.orelse)]
        if isinstance(node, ir.Handler) and node.site == site:
            return _blocks_below(node.body)
        if isinstance(node, (ir.Stmt, ir.Handler)):
            stack.extend(c for c in ir.children(node) if isinstance(c, (ir.Stmt, ir.Handler)))
    return []


def _body_of(frame: Frame) -> ir.Block:
    """The body of the function, or of the module, that runs in a frame."""
    return frame.function.body if frame.function is not None else frame.module.body


def _blocks_below(block: ir.Block) -> list[ir.Block]:
    found = [block]
    for statement in block:
        for name in ("body", "orelse", "final"):
            inner = getattr(statement, name, None)
            if inner:
                found.extend(_blocks_below(inner))
        for handler in getattr(statement, "handlers", ()):
            found.extend(_blocks_below(handler.body))
    return found


def is_while(frame: Frame, site: int) -> bool:
    """Is it the header of a while loop?"""
    return any(isinstance(node, ir.While) for node in nodes_at(frame, site))


def nodes_at(frame: Frame, site: int) -> Iterator[ir.Stmt | ir.Handler]:
    """The statements and handlers of a function, or of a module, that have a site."""
    stack: list[Any] = list(_body_of(frame))
    while stack:
        node = stack.pop()
        if isinstance(node, (ir.Stmt, ir.Handler)):
            if node.site == site:
                yield node
            stack.extend(ir.children(node))
