"""Write a script in an odd layout that means the same.

Comments, decorators, tabs, CR LF or both newlines, a byte order mark, latin-1 with a coding line,
no last newline, semicolons, continued lines, one-line ifs, arguments line by line, type comments,
form feeds. Each comment has a number of its own, so that one can tell when it is lost.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from itertools import count

Lines = list[str]
Layout = Callable[[Lines, random.Random], Lines]

_UNIT = "    "
_CALL = re.compile(r"^(?P<head>\s*(?:\w[\w.\[\], ]* = |return |await )?\w[\w.]*)\((?P<args>.+)\)$")


def dressed(source: str, rng: random.Random) -> bytes:
    """The script in a random layout; as it was where that would not be Python any more."""
    lines = [re.sub(r"\s*# expect: .*$", "", line) for line in source.splitlines()]
    for layout in rng.sample(LAYOUTS, rng.randint(1, len(LAYOUTS))):
        after = layout(list(lines), rng)
        if _parses(after):
            lines = after
    lines = _commented(lines, rng)
    lines = _indented(lines, rng)
    return _encoded(lines, rng)


def _parses(lines: Lines) -> bool:
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return False
    return True


def _in_strings(lines: Lines) -> set[int]:
    """The indexes of lines that start inside a string."""
    return {
        row
        for node in ast.walk(ast.parse("\n".join(lines)))
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno
        for row in range(node.lineno, node.end_lineno)
    }


def _simple(lines: Lines) -> Iterator[tuple[int, ast.stmt]]:
    """The statements that have one line to themselves, by its index."""
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            line = lines[node.lineno - 1].encode()
            beside = line[: node.col_offset] + line[node.end_col_offset :]
            if node.lineno == node.end_lineno and not beside.strip():
                yield node.lineno - 1, node


def _with_semicolons(lines: Lines, rng: random.Random) -> Lines:
    rows = {row for row, _ in _simple(lines)}
    for row in sorted(rows, reverse=True):
        following = row + 1
        if following in rows and _indent(lines[row]) == _indent(lines[following]):
            if rng.random() < 0.25:
                lines[row] += rng.choice(("; ", " ;  ")) + lines.pop(following).strip()
                rows = {each - (each > row) for each in rows}
        elif rng.random() < 0.1:
            lines[row] += ";"
    return lines


def _with_one_line_blocks(lines: Lines, rng: random.Random) -> Lines:
    tree = ast.parse("\n".join(lines))
    blocks = [n for n in ast.walk(tree) if isinstance(n, (ast.If, ast.For, ast.With, ast.While))]
    for node in sorted(blocks, key=lambda node: -node.lineno):
        body, header = node.body, lines[node.lineno - 1]
        if getattr(node, "orelse", None) or not header.rstrip().endswith(":"):
            continue
        rows = [each.lineno - 1 for each in body]
        if any(hasattr(each, "body") or each.lineno != each.end_lineno for each in body):
            continue
        if rows != list(range(node.lineno, node.lineno + len(rows))) or rng.random() < 0.4:
            continue
        texts = [lines[row].strip() for row in rows]
        if any("#" in text for text in (header, *texts)) or len(texts) > 3:
            continue
        lines[node.lineno - 1] = f"{header.rstrip()} {'; '.join(texts)}"
        del lines[rows[0] : rows[-1] + 1]
    return lines


def _with_continuations(lines: Lines, rng: random.Random) -> Lines:
    strings = _in_strings(lines)
    for row, node in sorted(_simple(lines), key=lambda pair: -pair[0]):
        if row in strings or rng.random() > 0.15 or "#" in lines[row]:
            continue
        if isinstance(node, (ast.Assign, ast.Assert)):
            parts = re.split(r"(?<=[\w\])]) (?==(?!=)|and |or |== )", lines[row], maxsplit=1)
            if len(parts) == 2:
                deep = " " * (_indent(lines[row]) + rng.choice((2, 4, 8)))
                lines[row : row + 1] = [f"{parts[0]} \\", f"{deep}{parts[1]}"]
    return lines


def _with_long_calls(lines: Lines, rng: random.Random) -> Lines:
    found: Lines = []
    strings = _in_strings(lines)
    for row, line in enumerate(lines):
        match = _CALL.match(line)
        arguments = _arguments(match["args"]) if match and row not in strings else []
        if match is None or not arguments or rng.random() < 0.6:
            found.append(line)
            continue
        inner = " " * (_indent(line) + rng.choice((2, 4, 8)))
        if rng.random() < 0.3:
            first, *rest = arguments
            found.append(f"{match['head']}({first}{',' if rest else ')'}")
            found += [f"{inner}{each}," for each in rest[:-1]]
            found += [f"{inner}{each})" for each in rest[-1:]]
            continue
        found.append(f"{match['head']}(")
        last = rng.choice((",", ""))
        found += [f"{inner}{each}," for each in arguments[:-1]]
        found += [f"{inner}{arguments[-1]}{last}", f"{' ' * _indent(line)})"]
    return found


def _arguments(text: str) -> list[str]:
    """The arguments of a call; none where the text is more than one call."""
    parts, depth, start, quote = [], 0, 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return []
        elif letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [] if depth or quote or " for " in text else [*parts, *([last] if last else [])]


def _with_decorators(lines: Lines, rng: random.Random) -> Lines:
    found: Lines = []
    used = False
    for line in lines:
        if re.match(r"\s*(?:def|class) \w", line) and rng.random() < 0.3:
            found.append(f"{' ' * _indent(line)}@passed_on")
            used = True
        found.append(line)
    head = ["def passed_on(function): return function", ""] if used else []
    return [*head, *found]


def _with_docstrings(lines: Lines, rng: random.Random) -> Lines:
    tree = ast.parse("\n".join(lines))
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    for node in sorted(functions, key=lambda node: -node.body[0].lineno):
        first = node.body[0]
        start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
        if rng.random() < 0.4 and start > node.lineno and not ast.get_docstring(node):
            deep = " " * first.col_offset
            text = [f'{deep}"""What it does.', "", "  if rank == 0:  # a text", f'{deep}"""']
            lines[start - 1 : start - 1] = text
    return lines


def _with_gaps(lines: Lines, rng: random.Random) -> Lines:
    found: Lines = []
    strings = _in_strings(lines)
    for row, line in enumerate(lines):
        if row not in strings and rng.random() < 0.08:
            found.append(rng.choice(("", "   ", "\f", "\t")) if _starts(lines, row) else "")
        found.append(line)
    return found


def _starts(lines: Lines, row: int) -> bool:
    """Does a statement of the module start here?"""
    return not lines[row][:1].isspace() and not (row and lines[row - 1].endswith(("\\", ",", "(")))


LAYOUTS: tuple[Layout, ...] = (
    _with_semicolons,
    _with_one_line_blocks,
    _with_continuations,
    _with_long_calls,
    _with_decorators,
    _with_docstrings,
    _with_gaps,
)


def _commented(lines: Lines, rng: random.Random) -> Lines:
    numbers = count(1)
    strings = _in_strings(lines)
    found: Lines = []
    rate = rng.choice((0.0, 0.2, 0.5))
    for row, line in enumerate(lines):
        plain = row not in strings and not line.endswith("\\")
        if plain and line.strip() and not (row and lines[row - 1].endswith("\\")):
            if rng.random() < rate / 3 and not re.match(r"\s*(?:elif|else|except|finally)\b", line):
                found.append(f"{' ' * _indent(line)}# above {next(numbers)}")
        if plain and row + 1 not in strings and line.strip() and rng.random() < rate:
            word = rng.choice(("note", "note", "type: ignore  # note", "caf\xe9"))
            line = f"{line}{rng.choice(('  ', ' '))}# {word} {next(numbers)}"
        found.append(line)
    return found if _parses(found) else lines


def _indented(lines: Lines, rng: random.Random) -> Lines:
    unit = rng.choice((_UNIT, _UNIT, "\t", "  ", " " * 8))
    strings = _in_strings(lines)
    after = [
        line
        if row in strings
        else re.sub(r"^(?: {4})+", lambda match: unit * (len(match[0]) // 4), line)
        for row, line in enumerate(lines)
    ]
    return after if _parses(after) else lines


def _encoded(lines: Lines, rng: random.Random) -> bytes:
    encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "latin-1"))
    head = []
    if encoding == "latin-1":
        head = ["# -*- coding: latin-1 -*-", "# na\xefve"]
    if rng.random() < 0.2:
        head = ["#!/usr/bin/env python", *head]
    kinds = rng.choice((("\n",), ("\n",), ("\r\n",), ("\n", "\r\n")))
    text = "".join(f"{line}{rng.choice(kinds)}" for line in [*head, *lines])
    if rng.random() < 0.3:
        text = text.rstrip("\r\n")
    return text.encode(encoding)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
