"""The comments and statements of a document, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from distlint.source.comments import Comment, Scan
from distlint.source.document import Document, DocumentError
from distlint.source.settings.kinds import Kind, kind_of
from distlint.source.settings.values import Mapping, Node, plain
from distlint.source.settings.values import Sequence as Items


class Scanned(Protocol):
    """What suppression needs to know of a text."""

    @property
    def comments(self) -> Sequence[Comment]: ...

    @property
    def statements(self) -> Sequence[range]: ...


@dataclass(frozen=True, slots=True)
class _Found:
    comments: tuple[Comment, ...] = ()
    statements: tuple[range, ...] = ()


def kind(document: Document) -> Kind:
    """The kind of a document; what is not known to be otherwise is Python."""
    return kind_of(document.path, document.data[:256]) or "python"


def scan(document: Document) -> Scanned:
    """The comments and statements of a document; of one with a mistake, as far as they go."""
    if kind(document) == "python":
        return Scan(document.text)
    from distlint.source.settings.sheet import read

    try:
        sheet = read(document)
    except DocumentError:
        return _Found()
    if sheet is None:
        return _Found()
    return _Found(tuple(sheet.comments()), tuple(range(*rows) for rows in sheet.statements()))


def comments_follow(document: Document) -> bool:
    """May a comment stand behind a statement, rather than only on a line of its own?"""
    return kind(document) not in ("dockerfile", "makefile", "json")


def takes_comments(document: Document) -> bool:
    """Can a comment be put into the document at all? JSON has none."""
    return kind(document) != "json"


def content(document: Document) -> Any:
    """What a document that is no Python says, without comments and places, to compare."""
    from distlint.source.settings.sheet import read

    try:
        sheet = read(document)
    except DocumentError as error:
        return error.message
    if sheet is None:
        return None
    return (
        [_said(config.root) for config in sheet.configs],
        [(s.name, s.value, s.form) for s in sheet.script.settings],
        [[(w.text, w.raw) for w in command.words] for command in sheet.script.commands],
    )


def _said(node: Node) -> Any:
    if isinstance(node, Mapping):
        return [(entry.key, _said(entry.value)) for entry in node.entries]
    if isinstance(node, Items):
        return [_said(item) for item in node.items]
    return plain(node)
