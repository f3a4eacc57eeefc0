"""The tests that decide whether a statement of a function is reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.names import Around
from distlint.analyzer.static.reaching_definitions import Point


class Gate(NamedTuple):
    """A test on the way to a statement, and where it stands.

    ``wanted`` is what it has to come out as; None where a branch may leave whatever it is.
    """

    test: ir.Expr
    wanted: bool | None
    place: Point


def gates_before(point: Point) -> Iterator[Gate]:
    """The branches around a statement, and those before it that leave the function or the loop."""
    for depth, here in enumerate(point.around):
        outside = point.around[:depth]
        if isinstance(here.owner, (ir.If, ir.While)):
            is_body = here.block is here.owner.body
            yield Gate(here.owner.test, is_body, Point(point.scope, outside))
        for index, test, wanted in point.scope.exits(here.block):
            if index >= here.index:
                break
            around = (*outside, Around(here.block, index, here.owner))
            yield Gate(test, wanted, Point(point.scope, around))
