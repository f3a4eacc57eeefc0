"""What a configuration says, whatever language it is written in, with offsets into its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from distlint.source.document import Document, DocumentError
from distlint.source.numbers import whole_number


class _Unknown:
    """The value of something that is only decided later: a template, a variable."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()


def whole(text: str, base: int = 10) -> Any:
    """An integer; unknown where it is out of any reasonable range."""
    number = whole_number(text, base)
    return UNKNOWN if number is None else number


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, a string, a truth value or null; ``value`` may be ``UNKNOWN``."""

    value: Any
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its value; ``start`` and ``end`` are those of the key, quotes included."""

    key: str
    start: int
    end: int
    value: Node
    merged: bool = False
    """Does it come from elsewhere: a merge key in YAML, ``**`` in Python?"""


@dataclass(frozen=True, slots=True)
class Mapping:
    entries: tuple[Entry, ...]
    start: int
    end: int
    complete: bool = True
    """Are these all entries, as far as the text tells?"""

    def entry(self, key: str) -> Entry | None:
        """The entry that counts: the last of those with the key, an own one before a merged one."""
        found = [entry for entry in self.entries if entry.key == key]
        own = [entry for entry in found if not entry.merged]
        counting = own or found
        return counting[-1] if counting else None

    def node(self, *path: str) -> Node | None:
        """The value under a path of keys."""
        node: Node | None = self
        for key in path:
            entry = node.entry(key) if isinstance(node, Mapping) else None
            node = entry.value if entry is not None else None
        return node

    def value(self, *path: str) -> Any:
        """The plain value under a path of keys; None where there is none, as for null."""
        return plain(self.node(*path))

    def mapping(self, key: str) -> Mapping | None:
        found = self.node(key)
        return found if isinstance(found, Mapping) else None

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(entry.key for entry in self.entries)

    def repeated(self) -> Iterator[tuple[Entry, Entry]]:
        """Entries whose key was there before, each with the one before it."""
        seen: dict[str, Entry] = {}
        for entry in self.entries:
            if entry.merged:
                continue
            if entry.key in seen:
                yield seen[entry.key], entry
            seen[entry.key] = entry


Node = Scalar | Sequence | Mapping


def plain(node: Node | None) -> Any:
    """The value as Python would hold it; ``UNKNOWN`` where it is not known as a whole."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    if not node.complete:
        return UNKNOWN
    return {entry.key: plain(entry.value) for entry in node.entries}


def mappings(node: Node) -> Iterator[Mapping]:
    """A node and all below it, as far as they are mappings."""
    stack: list[Node] = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            yield node
            stack += [entry.value for entry in node.entries if not entry.merged]
        elif isinstance(node, Sequence):
            stack += node.items


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment by its offsets."""

    start: int
    end: int


@dataclass(slots=True)
class Parsed:
    """A text as a value, with the comments in it and what is beyond the standard."""

    root: Node | None
    comments: list[Comment] = field(default_factory=list)
    extensions: list[tuple[str, int, int]] = field(default_factory=list)
    """What only some readers take: a word for it, and the offsets."""
    second: int | None = None
    """Where a second document begins, in YAML."""


class Malformed(Exception):
    """The text cannot be read; ``offset`` says where."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset

    def error(self, document: Document) -> DocumentError:
        """The same, by row and column."""
        before = document.text[: self.offset]
        row = before.count("\n") + 1
        return DocumentError(self.message, row, self.offset - (before.rfind("\n") + 1) + 1)
