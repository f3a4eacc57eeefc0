"""Comparisons that hold where a file goes on: it asserts them, or ends where they do not hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects

_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Demand:
    """``left op right``, which holds after a statement."""

    left: ir.Expr
    op: str
    right: ir.Expr
    point: Point

    def both_ways(self) -> Iterator[Demand]:
        """The comparison as it is written, and turned around."""
        yield self
        yield Demand(self.right, _TURNED.get(self.op, self.op), self.left, self.point)


def demands(objects: Objects) -> Iterator[Demand]:
    """``assert a == b``, ``if a != b: raise ...`` and ``if a != b: sys.exit(...)``."""
    for point in objects.points:
        statement = point.statement
        if any(isinstance(here.owner, ir.If) for here in point.around):
            continue
        if isinstance(statement, ir.Assert):
            yield from _compared(statement.test, point, holds=True)
        elif isinstance(statement, ir.If) and _fails(statement.body):
            yield from _compared(statement.test, point, holds=False)


def _fails(block: ir.Block) -> bool:
    """Does a block end in an error, or in the end of the process?"""
    return ir.is_left(block) and isinstance(block[-1], (ir.Raise, ir.Evaluate, ir.Assert))


def _compared(test: ir.Expr, point: Point, *, holds: bool) -> Iterator[Demand]:
    if isinstance(test, ir.Not):
        yield from _compared(test.value, point, holds=not holds)
    elif isinstance(test, ir.BoolOp):
        if (test.op == "and") == holds:
            for value in test.values:
                yield from _compared(value, point, holds=holds)
    elif isinstance(test, ir.Compare) and len(test.ops) == 1:
        op = test.ops[0] if holds else _OPPOSITES.get(test.ops[0])
        if op is not None:
            yield Demand(test.left, op, test.rights[0], point)
