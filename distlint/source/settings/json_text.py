"""JSON with the offset of every key and value.

DeepSpeed reads its files with hjson, so what that adds is understood and noted: comments, trailing
and missing commas, keys and strings without quotes, ``NaN``. Holes of templates (``${NAME}``,
``{{ name }}``) stand for values that are not known.
"""

from __future__ import annotations

import json
import re

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

MAX_DEPTH = 200

_SPACE = " \t\r\n\f\v\ufeff\xa0"
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}#/]|$)")
_WORDS = {"true": True, "false": False, "null": None}
_NUMBER_WORDS = ("NaN", "Infinity", "-Infinity")
_WORD = re.compile(r"(?:true|false|null|NaN|-?Infinity)(?=[\s,\]}#/]|$)")
_KEY = re.compile(r"[^\s,:\[\]{}\"']+")
_HOLE = re.compile(r"\$\{[^}\n]*\}|\{\{.*?\}\}|<%.*?%>|\$[A-Za-z_]\w*", re.DOTALL)
_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'"
}  # fmt: skip


def parse(text: str) -> Parsed:
    """Read a text.

    Raises:
        Malformed: with the offset at which it can be no JSON, nor what hjson takes for it.
    """
    return _Reader(text).parsed()


def is_templated(text: str) -> bool:
    """Is it a template that becomes JSON or YAML later on?"""
    return "{%" in text or "{{" in text or "<%" in text or "${" in text


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.result = Parsed(None)

    def parsed(self) -> Parsed:
        self._space()
        if self.at == len(self.text):
            raise Malformed("empty file", 0)
        self.result.root = self._value(0)
        self._space()
        if self.at < len(self.text):
            raise Malformed("unexpected text after the end of the value", self.at)
        return self.result

    def _space(self) -> None:
        """White space and comments."""
        text, end = self.text, len(self.text)
        while self.at < end:
            if text[self.at] in _SPACE:
                self.at += 1
                continue
            start = self.at
            if text[start] == "#" or text.startswith("//", start):
                stop = text.find("\n", start)
                self.at = end if stop < 0 else stop
            elif text.startswith("/*", start):
                stop = text.find("*/", start)
                if stop < 0:
                    raise Malformed("unterminated comment", start)
                self.at = stop + 2
            else:
                return
            self.result.comments.append(Comment(start, self.at))
            self._extension("a comment", start, self.at)

    def _extension(self, what: str, start: int, end: int) -> None:
        self.result.extensions.append((what, start, end))

    def _value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise Malformed("nested too deeply", self.at)
        text, start = self.text, self.at
        hole = _HOLE.match(text, start)
        if hole:
            self.at = hole.end()
            return Scalar(UNKNOWN, start, self.at)
        if start >= len(text):
            raise Malformed("unexpected end of file, expected a value", start)
        first = text[start]
        if first == "{":
            return self._mapping(depth)
        if first == "[":
            return self._sequence(depth)
        if first in "\"'":
            return self._string()
        word = _WORD.match(text, start)
        if word:
            self.at = word.end()
            if word[0] in _NUMBER_WORDS:
                self._extension(f"`{word[0]}`", start, self.at)
                return Scalar(float(word[0].replace("Infinity", "inf")), start, self.at)
            return Scalar(_WORDS[word[0]], start, self.at)
        number = _NUMBER.match(text, start)
        if number:
            self.at = number.end()
            digits = number[0].lstrip("-").isdigit()
            return Scalar(whole(number[0]) if digits else float(number[0]), start, self.at)
        if depth == 0:
            begun = text[start:].split(maxsplit=1)[0]
            raise Malformed(f"expected an object, found `{begun[:20]}`", start)
        return self._bare_string()

    def _bare_string(self) -> Node:
        """Without quotes, up to the end of the line: hjson's."""
        start = self.at
        if self.text[start] in ",:]}":
            raise Malformed(f"expected a value, found `{self.text[start]}`", start)
        stop = self.text.find("\n", start)
        stop = len(self.text) if stop < 0 else stop
        written = self.text[start:stop].rstrip()
        if written.endswith((",", "}", "]")) or '"' in written:
            raise Malformed(f"`{written.split()[0].rstrip(',')}` is not a JSON value", start)
        self.at = start + len(written)
        self._extension("a string without quotes", start, self.at)
        return Scalar(written, start, self.at)

    def _string(self) -> Scalar:
        text, start = self.text, self.at
        quote = text[start]
        if text.startswith("'''", start):
            stop = text.find("'''", start + 3)
            if stop < 0:
                raise Malformed("unterminated string", start)
            self.at = stop + 3
            self._extension("single quotes", start, self.at)
            return Scalar(text[start + 3 : stop], start, self.at)
        parts = []
        at = start + 1
        while True:
            if at >= len(text) or text[at] in "\r\n":
                raise Malformed("unterminated string", start)
            character = text[at]
            if character == quote:
                break
            if character == "\\":
                value, at = self._escape(at)
                parts.append(value)
            else:
                parts.append(character)
                at += 1
        self.at = at + 1
        if quote == "'":
            self._extension("single quotes", start, self.at)
        value = "".join(parts)
        return Scalar(UNKNOWN if _HOLE.search(value) else value, start, self.at)

    def _escape(self, at: int) -> tuple[str, int]:
        following = self.text[at + 1 : at + 2]
        if following == "u":
            digits = self.text[at + 2 : at + 6]
            try:
                return json.loads(f'"\\u{digits}"'), at + 6
            except ValueError:
                raise Malformed("`\\u` must be followed by four hexadecimal digits", at) from None
        if following not in _ESCAPES or not following:
            raise Malformed(f"invalid escape sequence `\\{following}`", at)
        return _ESCAPES[following], at + 2

    def _sequence(self, depth: int) -> Sequence:
        start = self.at
        self.at += 1
        items: list[Node] = []
        while self._more("]", start, bool(items)):
            items.append(self._value(depth + 1))
        return Sequence(tuple(items), start, self.at)

    def _mapping(self, depth: int) -> Mapping:
        start = self.at
        self.at += 1
        entries: list[Entry] = []
        while self._more("}", start, bool(entries)):
            entries.append(self._entry(depth))
        return Mapping(tuple(entries), start, self.at)

    def _entry(self, depth: int) -> Entry:
        start = self.at
        if self.text[start] in "\"'":
            name = self._string()
            key = name.value if isinstance(name.value, str) else self.text[start + 1 : self.at - 1]
        else:
            match = _KEY.match(self.text, start)
            if not match:
                raise Malformed(f"expected a key, found `{self.text[start]}`", start)
            key = match[0]
            self.at = match.end()
            self._extension("a key without quotes", start, self.at)
        end = self.at
        self._space()
        if self.text[self.at : self.at + 1] != ":":
            raise Malformed(f"expected `:` after `{key}`", min(self.at, len(self.text) - 1))
        self.at += 1
        self._space()
        return Entry(key, start, end, self._value(depth + 1))

    def _more(self, close: str, start: int, after_item: bool) -> bool:
        """Step over what separates items; False, and past the bracket, at the end of them."""
        before = self.at
        self._space()
        comma = self.text[self.at : self.at + 1] == ","
        if comma:
            if not after_item:
                raise Malformed("expected an item, found `,`", self.at)
            comma_at = self.at
            self.at += 1
            self._space()
        if self.at >= len(self.text):
            what = "list" if close == "]" else "object"
            raise Malformed(f"this {what} is never closed", start)
        if self.text[self.at] == close:
            if comma:
                self._extension("a trailing comma", comma_at, comma_at + 1)
            self.at += 1
            return False
        if after_item and not comma:
            if self.text[self.at] in "]}":
                raise Malformed(f"missing `{close}` before this", self.at)
            if "\n" not in self.text[before : self.at]:
                raise Malformed("missing comma", before)
            self._extension("a missing comma", before, before + 1)
        return True
