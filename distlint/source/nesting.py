"""Texts that take a parser too much time or memory, or all of its stack.

libcst copies what it has of an expression at each operator, call or attribute that follows, and
keeps for each bracket what is in it: the cost of a statement is the size of all its expressions
together, each counted in all those that it is part of. That sum is estimated from the tokens
alone, with weights that were measured, and statements over a limit are refused before any parser
sees them. Long displays of literals, which mean nothing to the analysis, are cut short instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from distlint.source.tokens import FIELD, Line, Token, intricate_lines, tokens

MAX_COST = 2_500_000
"""What takes libcst 100 MB or half a second."""
MAX_TOKENS = 20_000
MAX_BRANCHES = 1000
MAX_PATTERN = 6
"""Brackets in patterns and ``del``, for each of which libcst takes two to four times as long."""
LONG_DISPLAY = 2000
KEPT = 1000
"""Tokens of a literal display: over the first it is cut to the second."""

_BRACKET, _PREFIX, _CALL, _ATTRIBUTE = 50, 5, 4, 2
"""What a token costs in each bracket and prefix operator around it, and in what is called."""

_OPERAND = 1100
"""What one more operand costs where none is copied: they take stack."""

_STEEP_COST = 50_000
_STEEP_TOKENS = 3000
_STEEP_BRANCHES = 300
_PLAIN = 600, 5, 30
"""Logical lines that stay below, in characters, brackets and blanks, cannot reach a limit."""

_DEEP = 50
"""From here on the depth is given as the reason, below it the length."""

_INK = re.compile(r"[^\r\n]+")
_STATEMENT = re.compile(r"^([ \t]*)(\w+|@)", re.MULTILINE)
_BRANCHES = ("elif", "case", "except", "@")
_RESULTS = frozenset({"name", "number", "string", "close", "end"})
_OPERATORS = frozenset({"+", "-", "*", "/", "//", "%", "@", "&", "|", "^", "<<", ">>"})
_PREFIXES = frozenset({"+", "-", "~", "*", "**", ":="})
_PREFIX_WORDS = frozenset({"lambda", "not", "await", "else", "yield", "for"})
_WORDS = frozenset({"and", "or", "if", "in", "is", "from", "async"}) | _PREFIX_WORDS
_STATEMENT_WORDS = frozenset(
    "assert break class continue def del elif except finally global import nonlocal pass raise"
    " return try while with".split()
)
_LITERALS = frozenset({"literals", "items", "number", "string"})
_LITERAL = frozenset({",", ":", "-", "+", "True", "False", "None"})


class Excess(NamedTuple):
    """Why a text is not parsed, and the place: rows and columns start at 1."""

    message: str
    row: int
    column: int


class Examined(NamedTuple):
    """A text as it may be parsed, of the same length; ``steep`` where that takes much stack."""

    text: str
    excess: Excess | None
    steep: bool


def examine(text: str) -> Examined:
    """Look for what a parser must not see."""
    branches = max(map(text.count, _BRANCHES))
    beyond = _beyond_branches(text) if branches > MAX_BRANCHES else None
    if beyond is not None:
        message = f"more than {MAX_BRANCHES:,} branches or decorators of one statement"
        return Examined(text, _place(text, beyond, message), steep=True)
    cuts: list[_Cut] = []
    steep = branches > _STEEP_BRANCHES
    for line in intricate_lines(text, *_PLAIN):
        statement = _Statement(text, line)
        found = statement.excess()
        if found is not None:
            return Examined(text, _place(text, *found), steep=True)
        steep = steep or statement.is_steep
        cuts += statement.cuts
    return Examined(_without(text, cuts), None, steep)


def _place(text: str, position: int, message: str) -> Excess:
    rows = re.split(r"\r\n|\r|\n", text[:position])
    return Excess(message, len(rows), len(rows[-1]) + 1)


def _beyond_branches(text: str) -> int | None:
    """Where a statement has more branches than are taken; those of one indentation are counted
    that nothing interrupts which is indented as little."""
    chains: dict[str, int] = {}
    for match in _STATEMENT.finditer(text):
        indent, word = match.groups()
        chains = {outer: count for outer, count in chains.items() if len(outer) <= len(indent)}
        chains[indent] = chains.get(indent, 0) + 1 if word in _BRANCHES else 0
        if chains[indent] > MAX_BRANCHES:
            return match.start(2)
    return None


class _Cut(NamedTuple):
    """The end of a literal display, which is left out, and how a string in its place ends."""

    start: int
    end: int
    ending: str


def _without(text: str, cuts: list[_Cut]) -> str:
    """The text with one string in place of what is cut; its lines stay where they are."""
    parts = []
    position = 0
    for cut in cuts:
        parts += [text[position : cut.start], _filling(text[cut.start : cut.end], cut.ending)]
        position = cut.end
    return "".join([*parts, text[position:]])


def _filling(text: str, ending: str) -> str:
    """A string as an element of a display: blanks take a parser more memory, and newlines time."""
    blank = _INK.sub(_blanks, text)
    start, end = blank.find("   "), blank.rfind(" " * len(ending))
    if end < start + 3:
        return blank
    return f'{blank[:start]}"""{blank[start + 3 : end]}{ending}{blank[end + len(ending) :]}'


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


@dataclass(slots=True)
class _Level:
    """What is known inside a bracket; ``size``, ``prefixes`` and ``links`` since the last comma."""

    bracket: str
    begun: int
    """How many tokens came before."""
    size: int = 0
    prefixes: int = 0
    links: int = 0
    keyed: bool = False
    """Is it a dict?"""
    unfinished: int = 0
    """Parameters of a ``lambda`` and targets of a ``for``, whose commas separate nothing else."""
    cut: tuple[int, int, int] | None = None
    """Where a display may be cut, and how many tokens and what cost there was."""


class _Statement:
    """The expressions of a logical line, token by token."""

    def __init__(self, text: str, line: Line) -> None:
        self.text = text
        self.line = line
        self.cuts: list[_Cut] = []
        self.levels = [_Level("", 0)]
        self.count = self.cost = self.prefixes = self.commas = 0
        self.literal_from = 1
        """The outermost level from which on there are literals only."""
        self.last = Token("operator", "", line.start, line.start)
        self.first = ""
        self.narrow = ""

    def excess(self) -> tuple[int, str] | None:
        """Where it is too much for a parser, and why."""
        for token in tokens(self.text, self.line.start, self.line.end):
            if self._cannot_go_on(token):
                return None
            self._take(token)
            message = self._over(token)
            if message is not None:
                return token.start, message
            self.last = token
        message = self._over(None)
        return None if message is None else (self.last.start, message)

    @property
    def is_steep(self) -> bool:
        """May a parser need more stack than a thread has? So it may for what is not known here."""
        much = self.cost > _STEEP_COST or self.count > _STEEP_TOKENS
        return much or self.line.indented

    def _over(self, token: Token | None) -> str | None:
        if token is not None and token.kind == "open" and self.narrow:
            if len(self.levels) - 1 > MAX_PATTERN:
                return f"more than {MAX_PATTERN} nested brackets in a {self.narrow}"
        if self.commas > MAX_BRANCHES:
            return f"more than {MAX_BRANCHES:,} items of one with statement"
        if self.cost <= MAX_COST and self.count <= MAX_TOKENS:
            return None
        if token is not None and any(level.cut for level in self.levels[self.literal_from :]):
            return None  # what made it so large is left out, if it goes on like this
        depth = len(self.levels) - 1 + sum(each.prefixes + each.links for each in self.levels)
        if self.cost > MAX_COST and depth > _DEEP:
            return f"more than {depth - 1:,} nested or chained operators, calls and brackets"
        return f"more than {min(self.count - 1, MAX_TOKENS):,} tokens in one statement"

    def _cannot_go_on(self, token: Token) -> bool:
        """Is this where a parser stops, for it is no Python? So it is after a missing bracket."""
        if len(self.levels) == 1 or token.kind not in ("name", "number"):
            return False
        if token.text in _STATEMENT_WORDS or (token.text == "for" and not self._has_operand()):
            return self.last.text != "async"
        return token.text not in _WORDS and self._has_operand()

    def _has_operand(self) -> bool:
        last = self.last
        return last.kind in _RESULTS and not (last.kind == "name" and last.text in _WORDS)

    def _take(self, token: Token) -> None:
        many = token.kind in ("literals", "items")
        number = 2 * (token.text.count(",") + token.text.count(":")) if many else 1
        self.count += number
        self.cost += number * (_BRACKET * (len(self.levels) - 1) + _PREFIX * self.prefixes)
        self.levels[-1].size += number
        if token.kind not in _LITERALS and token.text not in _LITERAL:
            if token.kind not in ("open", "close") or token.text == FIELD:
                self.literal_from = len(self.levels)
        if many:
            self.levels[-1].keyed |= token.kind == "items"
            self._comma(token)
        elif token.kind == "open":
            self._open(token)
        elif token.kind == "close":
            self._close(token)
        elif token.kind == "name":
            self._word(token.text)
        elif token.kind == "operator":
            self._operator(token)
        elif token.kind in ("string", "begin") and self.last.kind in ("string", "end"):
            self._join()

    def _open(self, token: Token) -> None:
        called = token.text != FIELD and self._has_operand()
        if called:
            self._link(_CALL)
            self.literal_from = len(self.levels) + 1
        self.levels.append(_Level(token.text, self.count))

    def _close(self, token: Token) -> None:
        if len(self.levels) == 1:
            return
        level = self.levels.pop()
        self.prefixes -= level.prefixes
        if len(self.levels) >= self.literal_from and level.cut is not None:
            start, count, cost = level.cut
            if self.count - level.begun > LONG_DISPLAY:
                self.cuts = [each for each in self.cuts if each.start < start]
                ending = '""":0' if level.keyed else '"""'
                self.cuts.append(_Cut(start, token.start, ending))
                self.count, self.cost = count, cost
        self.literal_from = min(self.literal_from, len(self.levels))
        self.levels[-1].size += self.count - level.begun

    def _word(self, word: str) -> None:
        level = self.levels[-1]
        if self.count == 1:
            self.first = word
            self.narrow = "pattern" if word == "case" else ""
        if word == "del":
            self.narrow = "del statement"
        if word in ("and", "or"):
            self._join()
            level.size = 0  # what follows is copied without what came before
        elif word in _PREFIX_WORDS and not (word == "not" and self._has_operand()):
            self._prefix()
        if word in ("lambda", "for"):
            level.unfinished += 1
        elif word == "in" and level.unfinished:
            level.unfinished -= 1
        elif word == "if" and self.narrow == "pattern":
            self.narrow = ""

    def _operator(self, token: Token) -> None:
        mark, level = token.text, self.levels[-1]
        if mark == ",":
            self._comma(token)
        elif mark == ";":
            self._separate(level)
            self.narrow = ""
        elif mark == ":":
            level.keyed = True
            level.unfinished -= level.unfinished > 0
        elif mark in (".", "..."):
            self._link(_ATTRIBUTE)
        elif mark in _OPERATORS and self._has_operand():
            self._link(1)
        elif mark in _PREFIXES:
            self._prefix()

    def _comma(self, token: Token) -> None:
        level = self.levels[-1]
        self.commas += self.first in ("with", "async") and len(self.levels) <= 2
        if level.unfinished:
            return
        self._separate(level)
        if level.cut is None and self.count - level.begun >= KEPT:
            level.cut = token.end, self.count, self.cost

    def _separate(self, level: _Level) -> None:
        self.prefixes -= level.prefixes
        level.size = level.prefixes = level.links = 0

    def _link(self, weight: int) -> None:
        """All that the expression has so far becomes a part of another."""
        level = self.levels[-1]
        level.links += 1
        self.cost += weight * level.size

    def _join(self) -> None:
        """Another operand of ``and`` and ``or``, or another string: nothing is copied for it."""
        self.levels[-1].links += 1
        self.cost += _OPERAND

    def _prefix(self) -> None:
        """All that follows becomes a part of another expression."""
        self.levels[-1].prefixes += 1
        self.prefixes += 1
