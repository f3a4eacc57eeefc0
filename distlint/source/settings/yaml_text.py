"""YAML with the offset of every key and value, in the meaning that PyYAML gives it (YAML 1.1)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from distlint.source.settings.values import (
    UNKNOWN,
    Comment,
    Entry,
    Malformed,
    Mapping,
    Node,
    Parsed,
    Scalar,
    Sequence,
    whole,
)

_BOOLS = {
    word: value
    for value, words in ((True, ("yes", "true", "on")), (False, ("no", "false", "off")))
    for word in words
    for word in (word, word.capitalize(), word.upper())
}
_NULLS = ("", "~", "null", "Null", "NULL")
_INT = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*(?:[eE][-+][0-9]+)?")
_HOLE = re.compile(r"\$\{|\{\{|<%|\$[A-Za-z_]")
_BRACKET = re.compile(r"[][{}]")
_COMMENT = re.compile(r"(?:^|(?<=[\s]))#[^\r\n]*", re.MULTILINE)

MAX_DEPTH = 500
"""Brackets in brackets; the scanner looks at all that are open for each character."""
MOST_REPEATED = 20_000
"""Values that aliases repeat; lists of aliases of lists of aliases come to billions."""


def parse(text: str) -> Parsed:
    """Read the first document of a text.

    Raises:
        Malformed: with the offset at which it is no YAML.
    """
    if (at := _too_deep(text)) >= 0:
        raise Malformed("nested too deeply", at)
    found = _Converter(text)
    documents = _composed(text)
    root = next(documents, None)
    node = found.node(root) if root is not None else None
    return Parsed(node, list(_comments(text, found.strings)), second=_second(documents))


def _too_deep(text: str) -> int:
    """Where brackets are nested too deeply, those in strings included; -1 where they are not."""
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
        if depth > MAX_DEPTH:
            return bracket.start()
    return -1


def _second(documents: Iterator[Any]) -> int | None:
    try:
        following = next(documents, None)
    except Malformed as error:
        return error.offset
    return following.start_mark.index if following is not None else None


def block_lines(text: str, node: Scalar) -> list[tuple[int, str]]:
    """The lines of a block scalar (``|`` or ``>``) with the offset at which each begins."""
    header_end = text.find("\n", node.start)
    if header_end < 0 or text[node.start] not in "|>":
        return []
    body = text[header_end + 1 : node.end]
    indent = min(
        (len(line) - len(line.lstrip(" ")) for line in body.splitlines() if line.strip()), default=0
    )
    lines = []
    at = header_end + 1
    for line in body.splitlines(keepends=True):
        content = line.rstrip("\r\n")
        lines.append((at + min(indent, len(content)), content[indent:]))
        at += len(line)
    return lines


def _composed(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        yield from YAML(typ="rt", pure=True).compose_all(io.StringIO(text, newline=""))
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        message = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise Malformed(str(message), min(mark.index if mark else 0, len(text))) from None
    except (ValueError, RecursionError) as error:
        raise Malformed(f"invalid YAML: {error}", 0) from None


class _Converter:
    def __init__(self, text: str) -> None:
        self.text = text
        self.strings: list[tuple[int, int]] = []
        """The offsets of quoted strings and blocks, in which ``#`` begins no comment."""
        self._open: list[Any] = []
        self._known: set[int] = set()
        self._repeated = 0

    def node(self, node: Any) -> Node:
        start, end = node.start_mark.index, node.end_mark.index
        if any(node is each for each in self._open):
            return Scalar(UNKNOWN, start, end)  # an anchor inside of itself
        if id(node) in self._known:
            self._repeated += 1
            if self._repeated > MOST_REPEATED:
                return Scalar(UNKNOWN, start, end)
        self._known.add(id(node))
        if self.text.startswith("{{", start):
            return Scalar(UNKNOWN, start, end)  # a hole of a template
        kind = type(node).__name__
        if kind == "ScalarNode":
            return self._scalar(node, start, end)
        self._open.append(node)
        try:
            if kind == "SequenceNode":
                return Sequence(tuple(self.node(item) for item in node.value), start, end)
            return self._mapping(node, start, end)
        finally:
            self._open.pop()

    def _scalar(self, node: Any, start: int, end: int) -> Scalar:
        if node.style:
            self.strings.append((start, end))
        value = node.value
        if _HOLE.search(value):
            return Scalar(UNKNOWN, start, end)
        explicit = self.text[:start].rstrip().endswith(("!!str", "!!int", "!!bool", "!!float"))
        if node.style or explicit:
            return Scalar(value, start, end)
        return Scalar(resolved(value), start, end)

    def _mapping(self, node: Any, start: int, end: int) -> Mapping:
        entries: list[Entry] = []
        complete = True
        for key, value in node.value:
            if key.tag is not None and str(key.tag) == "tag:yaml.org,2002:merge":
                merged = self.node(value)
                for part in merged.items if isinstance(merged, Sequence) else (merged,):
                    if isinstance(part, Mapping):
                        entries += [
                            Entry(e.key, e.start, e.end, e.value, merged=True) for e in part.entries
                        ]
                        complete &= part.complete
                    else:
                        complete = False
                continue
            if type(key).__name__ != "ScalarNode":
                complete = False
                continue
            name = key.value
            if key.style:
                self.strings.append((key.start_mark.index, key.end_mark.index))
            elif _HOLE.search(name):
                complete = False
                continue
            entries.append(Entry(name, key.start_mark.index, key.end_mark.index, self.node(value)))
        return Mapping(tuple(entries), start, end, complete)


def resolved(text: str) -> Any:
    """A plain scalar as PyYAML reads it: ``no`` is false, and ``1e-5`` is a string."""
    if text in _BOOLS:
        return _BOOLS[text]
    if text in _NULLS:
        return None
    if _INT.fullmatch(text):
        digits = text.replace("_", "")
        sign = -1 if digits[0] == "-" else 1
        digits = digits.lstrip("+-")
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "bx"
        value = whole(digits, 8 if octal else 0)
        return value if value is UNKNOWN else sign * value
    if _FLOAT.fullmatch(text) and any(character.isdigit() for character in text):
        return float(text.replace("_", ""))
    return text


def _comments(text: str, strings: list[tuple[int, int]]) -> Iterator[Comment]:
    for match in _COMMENT.finditer(text):
        if not any(start <= match.start() < end for start, end in strings):
            yield Comment(match.start(), match.end())
