"""Statements, and what each evaluates and binds itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from distlint.analyzer.ir.children import children
from distlint.analyzer.ir.expressions import Display, Expr, Name, Starred, Walrus


class Stmt:
    """A statement; what it mentions, and what it is made of, stays once it was asked for."""

    __slots__ = ("_nodes", "mentioned")
    site: int
    mentioned: frozenset[str]
    """Kept by ``tokens_of``."""
    _nodes: tuple[Any, ...]


Block = tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    targets: tuple[Expr, ...]
    value: Expr
    site: int


@dataclass(slots=True, eq=False)
class AugAssign(Stmt):
    target: Expr
    op: str
    value: Expr
    site: int


@dataclass(slots=True, eq=False)
class Evaluate(Stmt):
    value: Expr
    site: int


@dataclass(slots=True, eq=False)
class If(Stmt):
    test: Expr
    body: Block
    orelse: Block
    site: int


@dataclass(slots=True, eq=False)
class For(Stmt):
    target: Expr
    iterable: Expr
    body: Block
    orelse: Block
    site: int


@dataclass(slots=True, eq=False)
class While(Stmt):
    test: Expr
    body: Block
    orelse: Block
    site: int


@dataclass(slots=True, eq=False)
class With(Stmt):
    context: Expr
    target: Expr | None
    body: Block
    site: int


@dataclass(slots=True, eq=False)
class Return(Stmt):
    value: Expr | None
    site: int


@dataclass(slots=True, eq=False)
class Break(Stmt):
    site: int


@dataclass(slots=True, eq=False)
class Continue(Stmt):
    site: int


@dataclass(slots=True, eq=False)
class Import(Stmt):
    """Bindings: (local name, dotted module, attribute or None for the module itself)."""

    bindings: tuple[tuple[str, str, str | None], ...]
    site: int


@dataclass(slots=True, eq=False)
class Delete(Stmt):
    targets: tuple[Expr, ...]
    site: int


def nodes_of(statement: Stmt) -> tuple[Any, ...]:
    """All that a statement itself evaluates and binds is made of: not its blocks, nor functions."""
    known: tuple[Any, ...] | None = getattr(statement, "_nodes", None)
    if known is None:
        found: list[Any] = []
        for root in children(statement):
            if isinstance(root, Expr):
                stack = [root]
                while stack:
                    item = stack.pop()
                    found.append(item)
                    stack.extend(children(item))
        known = statement._nodes = tuple(found)
    return known


def names_bound(target: Any) -> frozenset[str]:
    """The variables that an assignment to a target gives another value."""
    if isinstance(target, Name):
        return frozenset({target.id})
    if isinstance(target, Starred):
        return names_bound(target.value)
    if isinstance(target, Display):
        return frozenset().union(*map(names_bound, target.items))
    return frozenset()


def bound_by(node: Any) -> frozenset[str]:
    """The variables that a statement or an expression itself gives another value."""
    if isinstance(node, Assign):
        return frozenset().union(*map(names_bound, node.targets))
    if isinstance(node, (AugAssign, For, With)):
        return names_bound(node.target)
    return frozenset({node.target}) if isinstance(node, Walrus) else frozenset()
