"""Texts that parsers choke on: brackets or operators nested by the thousand.

Python itself refuses more than 200 brackets, so such files are freaks; but a parser written in
another language may end the process over them, and then nothing is said about any file.
"""

from __future__ import annotations

import io
import re
import tokenize

from distlint.source.document import NEWLINE

MAX_BRACKETS = 1000
MAX_OPERATORS = 3000
MAX_BRANCHES = 1000

_LONG_LINE = 4000
_LONG_BRACKET = 1000
_BRACKET = re.compile(r"[()\[\]{}]|\n")
_STATEMENT = re.compile(r"^([ \t]*)(\w+)", re.MULTILINE)
_OPENING = frozenset("([{")
_OPERATORS = frozenset({"+", "-", "*", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", "**"})
_SEPARATORS = frozenset({",", ":", ";", "="})


def too_deep(text: str) -> str | None:
    """What is nested too deeply to be parsed, if anything is."""
    if text.count("elif") > MAX_BRANCHES and _most_branches(text) > MAX_BRANCHES:
        return f"more than {MAX_BRANCHES:,} branches in one statement"
    brackets = sum(map(text.count, _OPENING))
    rows = text.count("\n")
    long_lines = max(map(len, text.split("\n"))) > _LONG_LINE
    if brackets <= MAX_BRACKETS and rows <= _LONG_BRACKET and not long_lines:
        return None
    depth, rows = _brackets(text)
    if depth > MAX_BRACKETS and _refused_by_python(text):
        return f"more than {MAX_BRACKETS:,} brackets inside each other"
    many = sum(map(text.count, "+-*/%@&|^<>")) > MAX_OPERATORS
    if many and (long_lines or rows > _LONG_BRACKET) and _longest_chain(text) > MAX_OPERATORS:
        return f"more than {MAX_OPERATORS:,} operators in one expression"
    return None


def _most_branches(text: str) -> int:
    """The most ``elif`` of one indentation without anything else that is indented as little."""
    chains: dict[str, int] = {}
    longest = 0
    for match in _STATEMENT.finditer(text):
        indent, word = match.groups()
        chains = {outer: count for outer, count in chains.items() if len(outer) <= len(indent)}
        chains[indent] = chains.get(indent, 0) + 1 if word == "elif" else 0
        longest = max(longest, chains[indent])
    return longest


def _brackets(text: str) -> tuple[int, int]:
    """How deep brackets go and how many rows a pair spans, brackets in strings included."""
    depth = deepest = row = longest = start = 0
    for match in _BRACKET.finditer(text):
        mark = match.group()
        if mark == "\n":
            row += 1
        elif mark in _OPENING:
            if depth == 0:
                start = row
            depth += 1
            deepest = max(deepest, depth)
        elif depth:
            depth -= 1
            if depth == 0:
                longest = max(longest, row - start)
    return deepest, max(longest, row - start if depth else 0)


def _refused_by_python(text: str) -> bool:
    """Does the count hold when strings are told from code?"""
    import ast

    try:
        compile(text, "<text>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        return "nested" in str(error.msg)
    except (MemoryError, RecursionError, ValueError):
        return True
    return False


def _longest_chain(text: str) -> int:
    """The most operators between two separators, on one level of brackets."""
    chains = [0]
    longest = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(NEWLINE.sub("\n", text)).readline):
            if token.type == tokenize.NEWLINE:
                chains = [0]
            elif token.string in _OPENING and token.type == tokenize.OP:
                chains.append(0)
            elif token.string in {")", "]", "}"} and token.type == tokenize.OP and len(chains) > 1:
                chains.pop()
            elif token.string in _SEPARATORS:
                chains[-1] = 0
            elif token.string in _OPERATORS and token.type == tokenize.OP:
                chains[-1] += 1
                longest = max(longest, chains[-1])
    except (tokenize.TokenError, SyntaxError):
        pass
    return longest
