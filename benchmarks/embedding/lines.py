"""Lines of a program that know which row of an example they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent

_SLOT = re.compile(r"^([ ]*)#% (\w+)$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line; ``origin`` is its row in the example, 0 where it is not from there."""

    text: str
    origin: int = 0

    def indented(self, columns: int) -> Line:
        return Line(" " * columns + self.text, self.origin) if self.text.strip() else self


def lines_of(text: str) -> list[Line]:
    """The lines of a text that is not from an example."""
    return [Line(line) for line in dedent(text).strip("\n").splitlines()]


def indented(lines: Iterable[Line], columns: int = 4) -> list[Line]:
    return [line.indented(columns) for line in lines]


def filled(template: str, slots: Mapping[str, Sequence[Line]]) -> list[Line]:
    """A template with its slots, which are lines ``#% NAME``, filled or taken out."""
    found: list[Line] = []
    for line in lines_of(template):
        match = _SLOT.match(line.text)
        if match is None:
            found.append(line)
        else:
            found += indented(slots.get(match[2], ()), len(match[1]))
    return found
