"""Expressions, and what one that is a name or an attribute is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Expr:
    """An expression."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Literal(Expr):
    value: Any


@dataclass(slots=True, eq=False)
class Name(Expr):
    id: str


@dataclass(slots=True, eq=False)
class Attribute(Expr):
    value: Expr
    attr: str
    site: int


@dataclass(slots=True, eq=False)
class Argument:
    """One argument of a call; ``star`` is ``""``, ``"*"`` or ``"**"``."""

    value: Expr
    keyword: str | None = None
    star: str = ""


@dataclass(slots=True, eq=False)
class Call(Expr):
    func: Expr
    args: tuple[Argument, ...]
    site: int


@dataclass(slots=True, eq=False)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Compare(Expr):
    left: Expr
    ops: tuple[str, ...]
    rights: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class BoolOp(Expr):
    """``and`` / ``or``; each operand but the last decides whether the next one is evaluated."""

    op: str
    values: tuple[Expr, ...]
    site: int


@dataclass(slots=True, eq=False)
class Not(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Unary(Expr):
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class Conditional(Expr):
    test: Expr
    body: Expr
    orelse: Expr
    site: int


@dataclass(slots=True, eq=False)
class Display(Expr):
    """A list, tuple or set display."""

    kind: str
    items: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class DictDisplay(Expr):
    """A dict display; a key of None marks ``**value``."""

    keys: tuple[Expr | None, ...]
    values: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Subscript(Expr):
    value: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True, eq=False)
class Starred(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    """A comprehension or generator expression; a dict's element is its (key, value) display."""

    kind: str
    element: Expr
    clauses: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...]
    site: int


@dataclass(slots=True, eq=False)
class Yield(Expr):
    value: Expr | None
    delegated: bool
    site: int


@dataclass(slots=True, eq=False)
class Walrus(Expr):
    target: str
    value: Expr


@dataclass(slots=True, eq=False)
class Format(Expr):
    """An f-string or a concatenation of strings."""

    parts: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Opaque(Expr):
    """Something that is not modelled, such as an expression nested too deeply: unknown, uniform."""

    site: int


def last_name(node: Any) -> str:
    """``step`` of ``self.optimizer.step``: the name of a variable, or of the last attribute."""
    if isinstance(node, Attribute):
        return node.attr
    return node.id if isinstance(node, Name) else ""


def path_of(node: Expr | None) -> tuple[str, ...] | None:
    """``("self", "model")`` of ``self.model``: an access path, if an expression is one."""
    attributes: list[str] = []
    while isinstance(node, Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, Name) else None
