"""What raises and catches exceptions, and which blocks surely fail or are left."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from distlint.analyzer.ir.expressions import Call, Display, Expr, Literal, last_name, path_of
from distlint.analyzer.ir.statements import (
    Block,
    Break,
    Continue,
    Evaluate,
    If,
    Return,
    Stmt,
    With,
    nodes_of,
)

FOR_ALL = frozenset(
    {
        "KeyboardInterrupt",
        "ImportError",
        "ModuleNotFoundError",
        "StopIteration",
        "StopAsyncIteration",
        "Empty",
        "AttributeError",
        "NotImplementedError",
        "GeneratorExit",
        "SystemExit",
        "NameError",
        "KeyError",
        "PackageNotFoundError",
        "TypeError",
    }
)
"""Exceptions that come from the program or the installation, so on all ranks or on none."""

_EXPECT_FAILURE = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_OUT_OF_MEMORY = ("OutOfMemoryError", "MemoryError")
_BUILTIN_ERRORS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}


@dataclass(slots=True, eq=False)
class Raise(Stmt):
    value: Expr | None
    site: int

    @property
    def raised(self) -> str:
        """The name of the class, or of what holds the exception; "" where it is raised again."""
        value = self.value.func if isinstance(self.value, Call) else self.value
        return last_name(value) if value is not None else ""


@dataclass(slots=True, eq=False)
class Assert(Stmt):
    test: Expr
    site: int

    @property
    def raised(self) -> str:
        return "AssertionError"


@dataclass(slots=True, eq=False)
class Handler:
    """An except clause; ``types`` is None for a bare ``except:``."""

    types: Expr | None
    name: str | None
    body: Block
    site: int

    @property
    def is_for_all(self) -> bool:
        """Does it catch only what is raised on all ranks or on none?"""
        names = self.names
        return bool(names) and all(n in FOR_ALL or n.endswith("NotFoundError") for n in names)

    @property
    def is_for_memory(self) -> bool:
        """Is it there for a process that runs out of memory, by a class or by the message?"""
        if any(name.endswith(_OUT_OF_MEMORY) for name in self.names):
            return True
        return any(
            isinstance(node, Literal)
            and isinstance(node.value, str)
            and "out of memory" in node.value.lower()
            for statement in self.body
            if isinstance(statement, If)
            for node in nodes_of(statement)
        )

    @property
    def names(self) -> list[str]:
        """The classes that it names."""
        if self.types is None:
            return []
        items = self.types.items if isinstance(self.types, Display) else (self.types,)
        return [last_name(item) for item in items]

    def catches(self, raised: str) -> bool:
        """May it take what the program raises itself? ``raised`` is the class, if that is known."""
        if self.types is None or raised in self.names:
            return True
        kind = _BUILTIN_ERRORS.get(raised)
        if kind is None:
            return not self.is_for_all
        known = [_BUILTIN_ERRORS.get(name) for name in self.names]
        if any(each is not None and issubclass(kind, each) for each in known):
            return True
        # a class of the project cannot be above a builtin one; a variable may hold any
        return any(
            each is None and not name[:1].isupper()
            for name, each in zip(self.names, known, strict=True)
        )

    @property
    def swallows(self) -> bool:
        """May a rank that has failed alone go on after it?"""
        raises = bool(self.body) and isinstance(self.body[-1], Raise)
        return not self.is_for_all and not (raises and len(self.body) == 1)


@dataclass(slots=True, eq=False)
class Try(Stmt):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block
    site: int


def managed(context: Expr, target: Expr | None, body: Block, site: int) -> With | Try:
    """A ``with`` statement; with ``suppress(...)``, the ``try`` that it stands for."""
    if target is None and isinstance(context, Call) and context.args and _suppresses(context.func):
        types = tuple(argument.value for argument in context.args)
        caught = Handler(Display("tuple", types) if len(types) > 1 else types[0], None, (), site)
        return Try(body, (caught,), (), (), site)
    return With(context, target, body, site)


def _suppresses(function: Expr) -> bool:
    return path_of(function) in {("suppress",), ("contextlib", "suppress")}


def is_to_fail(statement: With | Try) -> bool:
    """Is a block there to raise: ``with pytest.raises(...)``, or a try that ends in a failure?"""
    if isinstance(statement, With):
        context = statement.context
        return isinstance(context, Call) and last_name(context.func) in _EXPECT_FAILURE
    last = statement.body[-1] if statement.body else None
    if isinstance(last, Evaluate) and isinstance(last.value, Call):
        return last_name(last.value.func) == "fail"
    if isinstance(last, Raise):
        return last.raised == "AssertionError"
    return _never_holds(last)


def is_left(block: Block) -> bool:
    """Does a block end in a jump out of what it stands in, or in the end of the program?"""
    if not block:
        return False
    last = block[-1]
    while isinstance(last, With) and last.body:
        last = last.body[-1]
    if isinstance(last, Evaluate) and isinstance(last.value, Call):
        return last_name(last.value.func) in ("exit", "_exit")
    return _never_holds(last) or isinstance(last, (Return, Raise, Continue, Break))


def _never_holds(statement: Stmt | None) -> bool:
    """``assert False``."""
    return (
        isinstance(statement, Assert)
        and isinstance(statement.test, Literal)
        and not statement.test.value
    )
