"""Parts of sentences about ranks and places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from distlint.diagnose.events import Frame
from distlint.diagnose.lines import ranks_text


def subject(ranks: Sequence[int], size: int) -> str:
    if not ranks:
        return "a process"
    if size > 1 and len(ranks) == size:
        return "all ranks"
    return ranks_text(list(ranks))


def verb(ranks: Iterable[int], one: str, several: str) -> str:
    return one if len(list(ranks)) == 1 else several


def elements(count: str) -> str:
    number = int(count)
    return f"{number:,} element{'s' if number != 1 else ''}"


def called(place: Frame) -> str:
    """The line of source in which a rank stands, if it fits into a sentence."""
    return f"`{place.code}`" if 0 < len(place.code) <= 60 else "a collective"


def short_place(place: Frame | None) -> str:
    if place is None:
        return ""
    name = place.file.rsplit("/", 1)[-1]
    return f"{name}:{place.line}"
