"""Tokens of Python text for a look ahead of the parser.

``tokenize`` of the standard library reads the grammar of the running Python alone and takes half
as long as a parse. This reads any version, broken text as well, and the code in f-strings.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import NamedTuple

OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
FIELD = "f{"
"""The bracket of a replacement field. On the stack of what is open, the quote follows."""
_SPEC = ":"
"""A format specification, on that stack; likewise."""

_BODIES = (
    r"'''[^\\']*(?:(?:\\.|'(?!''))[^\\']*)*'''",
    r'"""[^\\"]*(?:(?:\\.|"(?!""))[^\\"]*)*"""',
    r"''(?!')|'(?!')[^\\'\r\n]*(?:\\(?:\r\n|.)[^\\'\r\n]*)*'",
    r'""(?!")|"(?!")[^\\"\r\n]*(?:\\(?:\r\n|.)[^\\"\r\n]*)*"',
)
_BODY = "|".join(_BODIES)
_PLAIN = r"[^'\"#()\[\]{}\\\r\n]*"
_FIELD = rf"\{{{_PLAIN}(?:(?:\({_PLAIN}\)|\[{_PLAIN}\]){_PLAIN})*\}}"

_AHEAD = re.compile(
    rf"""(?:[^'"#()\[\]{{}}\\\r\n]+
      | \#[^\r\n]*
      | (?<![fFtT])(?<![fFtT][rR])(?:{_BODY})
      | '(?!')(?:[^'\\{{}}\r\n]|\{{\{{|\}}\}}|{_FIELD})*'
      | "(?!")(?:[^"\\{{}}\r\n]|\{{\{{|\}}\}}|{_FIELD})*"
      | \({_PLAIN}\) | \[{_PLAIN}\] | \{{{_PLAIN}\}}
    )*
    (\r\n?|\n|[()\[\]{{}}'"\\]|\Z)""",
    re.DOTALL | re.VERBOSE,
)
"""All up to the next end of a line or bracket, leaving out pairs with nothing in them but words."""

_STRING = rf"(?i:rb?|br?|u)?(?:{_BODY})"
_NUMBER = (
    r"0(?:[xX][\da-fA-F_]+|[oO][0-7_]+|[bB][01_]+)"
    r"|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?"
)
_ATOM = rf"-?(?:{_NUMBER}|{_STRING})\s*"
_ROW = rf"[\[(]\s*(?:{_ATOM},\s*){{0,16}}{_ATOM}(?:,\s*)?[\])]\s*"
_TOKEN = re.compile(
    rf"""(?:[\s\\]+|\#[^\r\n]*)*
    (?:(?P<literals>(?:(?:{_ATOM}|{_ROW}),\s*){{8,64}})
      |(?P<items>(?:{_ATOM}:\s*(?:{_ATOM}|{_ROW}),\s*){{8,64}})
      |(?P<formatted>(?i:fr?|tr?|rf|rt)(?:'''|\"\"\"|'|"))
      |(?P<string>{_STRING})
      |(?P<number>{_NUMBER})
      |(?P<name>[^\W\d]\w*)
      |(?P<operator>\*\*=?|//=?|<<=?|>>=?|:=|->|[-+*/%@&|^<>=!]=|\.\.\.|.)
      |\Z)""",
    re.DOTALL | re.VERBOSE,
)
_PREFIX = re.compile(r"(?i)(?<!\w)(?:fr?|tr?|rf|rt)\Z")
_LITERAL = re.compile(r"""\\[\\'"]|\{\{?|\}|'''|\"\"\"|["'\r\n]""")


class Token(NamedTuple):
    """``kind`` is string, number, name, operator, open, close, begin and end of an f-string, or
    literals and items: many elements of a list or of a dict, with their commas."""

    kind: str
    text: str
    start: int
    end: int


class Line(NamedTuple):
    """A logical line: its place in the text, and whether many blanks begin it."""

    start: int
    end: int
    indented: bool


def intricate_lines(text: str, length: int, depth: int, indent: int) -> Iterator[Line]:
    """The logical lines of more than ``length`` characters, or with brackets in ``depth`` others,
    or that ``indent`` blanks begin.

    Takes a hundredth of the time of a parse.
    """
    start = position = opened = deepest = 0
    while True:
        match = _AHEAD.match(text, position)
        assert match is not None
        mark = match[1]
        position = match.end()
        if mark in OPENING and mark:
            opened += 1
            deepest = max(deepest, opened)
        elif mark in _CLOSING and mark:
            opened = max(opened - 1, 0)
        elif mark in ("'", '"'):
            position, depth_inside = _after_quote(text, position - 1)
            deepest = max(deepest, opened + depth_inside)
        elif mark == "\\":
            following = text[position : position + 2]
            position += 2 if following == "\r\n" else len(following[:1])
        elif not mark or not opened:
            lead = text[start : start + indent]
            indented = not lead.strip(" \t\f") and len(lead) == indent
            if position - start > length or deepest >= depth or indented:
                yield Line(start, position, indented)
            start, deepest = position, 0
        if not mark:
            return


def _after_quote(text: str, quote: int) -> tuple[int, int]:
    """The end of the f-string that a quote begins and the depth of brackets in it.

    Of a quote that begins none, the place after it.
    """
    prefix = _PREFIX.search(text[max(quote - 3, 0) : quote])
    if prefix is None:
        return quote + 1, 0
    begun = opened = deepest = 0
    for token in tokens(text, quote - len(prefix[0]), len(text)):
        opened += (token.kind == "open") - (token.kind == "close")
        deepest = max(deepest, opened)
        begun += (token.kind == "begin") - (token.kind == "end")
        if not begun:
            return token.end, deepest
    return len(text), deepest


def tokens(text: str, position: int, end: int) -> Iterator[Token]:
    """The tokens of a part of a text.

    An f-string is a begin, the tokens of its replacement fields between brackets, and an end. Its
    quotes may occur in a field again, as they may since Python 3.12 and in libcst.
    """
    opened: list[str] = []
    while position < end:
        inside = opened[-1] if opened else ""
        if inside[:1] in ("'", '"', _SPEC):
            position = yield from _in_string(text, position, end, opened)
            continue
        match = _TOKEN.match(text, position, end)
        if match is None or match.lastgroup is None:
            return
        kind, mark = match.lastgroup, match[match.lastgroup]
        start, position = match.start(kind), match.end()
        if kind == "formatted":
            opened.append(mark.lstrip("fFtTrR"))
            kind = "begin"
        elif kind == "operator" and mark in OPENING:
            opened.append(mark)
            kind = "open"
        elif kind == "operator" and mark in _CLOSING:
            if not opened or (inside.startswith(FIELD) and mark != "}"):
                continue
            opened.pop()
            kind = "close"
        elif inside.startswith(FIELD) and mark[0] == _SPEC:
            opened.append(_SPEC + _quote(inside))
            position = start + 1
            continue
        yield Token(kind, mark, start, position)


def _in_string(
    text: str, position: int, end: int, opened: list[str]
) -> Generator[Token, None, int]:
    """Go on to the next token in what an f-string says literally; returns the place after it."""
    match = _LITERAL.search(text, position, end)
    if match is None:
        return end
    mark, start = match[0], match.start()
    quote = _quote(opened[-1])
    in_spec = opened[-1][0] == _SPEC
    if mark == "{{" and not in_spec:
        return match.end()
    if mark[0] == "{":
        opened.append(FIELD + quote)
        yield Token("open", FIELD, start, start + 1)
        return start + 1
    if mark == "}" and in_spec:
        del opened[-2:]
        yield Token("close", mark, start, match.end())
        return match.end()
    if mark == quote or (len(quote) == 1 and mark[0] in (quote, "\r", "\n")):
        yield from _leave_string(start, opened)
        return start + len(quote)
    return match.end() if mark[0] == "\\" else start + 1


def _leave_string(position: int, opened: list[str]) -> Iterator[Token]:
    """Close the innermost f-string, with the field in whose format specification it ends."""
    while True:
        left = opened.pop()
        if left.startswith(FIELD):
            yield Token("close", "}", position, position)
        elif left[0] in ("'", '"'):
            yield Token("end", left, position, position + len(left))
            return


def _quote(inside: str) -> str:
    """The quote of the f-string that a place on the stack belongs to."""
    return inside.lstrip(FIELD + _SPEC)
