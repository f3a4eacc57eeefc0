"""What the grammars hand to the lowering: parameters, clauses, and what a scope binds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from distlint.analyzer.ir.records import Field


class Parameter(NamedTuple):
    """A parameter as the source has it; its annotation only where that is a name or a text."""

    name: str
    default: Any = None
    annotation: Any = None
    star: str = ""
    keyword_only: bool = False


class Clause(NamedTuple):
    """A ``for`` of a comprehension."""

    target: Any
    iterable: Any
    tests: Sequence[Any]


class Scope:
    """What one function binds and declares while it is lowered."""

    __slots__ = ("bound", "fields", "generator", "outer", "receiver")

    def __init__(self, receiver: str = "") -> None:
        self.receiver = receiver
        """``self``, in a method."""
        self.fields: list[Field] = []
        """Annotated names, of a class."""
        self.bound: set[str] = set()
        self.outer: set[str] = set()
        self.generator = False
