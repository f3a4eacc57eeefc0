"""Functions and classes, the nodes that define them, and the variables that they name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from distlint.analyzer.ir.children import children
from distlint.analyzer.ir.expressions import Expr, Name
from distlint.analyzer.ir.statements import Block, Stmt
from distlint.analyzer.ir.tokens import block_tokens, tokens_of


@dataclass(slots=True, eq=False)
class Param:
    """A parameter; ``star`` is ``""``, ``"*"`` or ``"**"``."""

    name: str
    default: Expr | None = None
    annotation: Expr | None = None
    star: str = ""
    keyword_only: bool = False


@dataclass(slots=True, eq=False)
class Function:
    """A function, method or lambda."""

    name: str
    module: str
    params: tuple[Param, ...]
    body: Block
    decorators: tuple[Expr, ...]
    site: int
    outer: frozenset[str] = frozenset()
    """Names declared global or nonlocal."""
    generator: bool = False
    owner: str = ""
    """Name of the class it is a method of."""
    nested: bool = False
    """Is it defined inside another function?"""
    locals: frozenset[str] = frozenset()
    decorator_sites: tuple[int, ...] = ()
    _tokens: frozenset[str] | None = field(default=None, repr=False)
    _captured: frozenset[str] | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def tokens(self) -> frozenset[str]:
        """Every identifier and short string that the function mentions."""
        if self._tokens is None:
            found: set[str] = set()
            for param in self.params:
                if param.default is not None:
                    found.update(tokens_of(param.default))
            for decorator in self.decorators:
                found.update(tokens_of(decorator))
            found.update(block_tokens(self.body))
            self._tokens = frozenset(found)
        return self._tokens

    @property
    def captured(self) -> frozenset[str]:
        """What functions, lambdas and classes in it name: it may be variables of the function."""
        if self._captured is None:
            self._captured = names_nested(self.body)
        return self._captured


@dataclass(slots=True, eq=False)
class Class:
    """A class statement."""

    name: str
    module: str
    bases: tuple[Expr, ...]
    methods: dict[str, Function]
    attributes: dict[str, Expr]
    body: Block
    site: int


@dataclass(slots=True, eq=False)
class Lambda(Expr):
    function: Function


@dataclass(slots=True, eq=False)
class Define(Stmt):
    function: Function
    site: int


@dataclass(slots=True, eq=False)
class DefineClass(Stmt):
    cls: Class
    site: int


def names_in(node: Any) -> frozenset[str]:
    """The variables that a node names; of functions in it, those that are not their own."""
    found: set[str] = set()
    stack = list(children(node)) if type(node) is Function else [node]
    while stack:
        item = stack.pop()
        if type(item) is Name:
            found.add(item.id)
        elif type(item) is Function:
            found |= names_in(item)
        else:
            stack.extend(children(item))
    if type(node) is Function:
        found -= node.locals
        found.difference_update(param.name for param in node.params)
    return frozenset(found)


def names_nested(block: Block) -> frozenset[str]:
    """What functions, lambdas and classes in a block name."""
    found: set[str] = set()
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, (Define, DefineClass, Lambda)):
            found |= names_in(node)
        else:
            stack.extend(children(node))
    return frozenset(found)
