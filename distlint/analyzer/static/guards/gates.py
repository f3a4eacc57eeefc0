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
        for index, each in enumerate(here.block[: here.index]):
            place = Point(point.scope, (*outside, Around(here.block, index, here.owner)))
            if isinstance(each, ir.Assert):
                yield Gate(each.test, True, place)
            elif isinstance(each, ir.If):
                leaves = ir.is_left(each.body), ir.is_left(each.orelse)
                if any(leaves):
                    yield Gate(each.test, None if all(leaves) else leaves[1], place)
