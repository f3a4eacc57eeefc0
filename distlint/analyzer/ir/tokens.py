"""The identifiers and short strings that a node mentions."""

from __future__ import annotations

from typing import Any

from distlint.analyzer.ir.children import children
from distlint.analyzer.ir.exceptions import Raise, Try
from distlint.analyzer.ir.expressions import Argument, Attribute, Literal, Name
from distlint.analyzer.ir.statements import Block, Stmt

TRY = "$try"
"""Token of code with an except clause after which a rank may go on that has failed alone."""

RAISE = "$raise"
"""Token of code that raises an exception of its own."""


def tokens_of(node: Any) -> frozenset[str]:
    """Identifiers and short strings mentioned in a node (and in the functions nested in it)."""
    is_statement = isinstance(node, Stmt)
    known: frozenset[str] | None = getattr(node, "mentioned", None) if is_statement else None
    if known is not None:
        return known
    found: set[str] = set()
    stack = [node]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is Name:
            found.add(item.id)
        elif kind is Attribute:
            found.add(item.attr)
            stack.append(item.value)
        elif kind is Literal:
            if type(item.value) is str and len(item.value) < 40:
                found.add(item.value)
        else:
            if kind is Argument and item.keyword:
                found.add(item.keyword)
            elif kind is Try and any(handler.swallows for handler in item.handlers):
                found.add(TRY)
            elif kind is Raise:
                found.add(RAISE)
            stack.extend(children(item))
    result = frozenset(found)
    if is_statement:
        node.mentioned = result
    return result


def block_tokens(block: Block) -> frozenset[str]:
    """Tokens of all statements of a block."""
    if not block:
        return frozenset()
    return frozenset().union(*(tokens_of(stmt) for stmt in block))
