"""What IPython adds to Python: magics, shell lines and help. It is put out of sight, in place.

Every character stays where it is, so that rows, columns and offsets of the rest hold.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from distlint.source.document import NEWLINE

MASK = "\ue000"
"""Stands for a character that is no Python."""

PYTHON_CELLS = frozenset(
    {"capture", "debug", "ipytest", "memit", "prun", "px", "pyinstrument", "snakeviz", "time"}
    | {"timeit", "wandb"}
)
"""Cell magics below which there is Python that goes on where the cells before ended."""

_BARE = re.compile(
    r"(?:alias|autoreload|cat|cd|clear|conda|config|cp|env|ldir|less|lk|ll|load|load_ext|ls|lx|magic"
    r"|mamba|man|matplotlib|micromamba|mkdir|more|mv|pip|pwd|pylab|reload_ext|rm|rmdir|run|uv|who"
    r"|whos)(?:\s+[^\s=(\[.,:].*)?$"
)
"""A magic without its sign, which IPython takes where no variable has the name."""
_CELL_MAGIC = re.compile(r"%%(\S*)")
_WRITES = re.compile(
    r"\s*%%(?:writefile|file)[ \t]+(?P<append>(?:-a|--append)[ \t]+)?"
    r"(?P<quote>[\"']?)(?P<name>[^\r\n]*?\.pyw?)(?P=quote)[ \t]*(?=\r|\n|$)"
)
_TIMED = re.compile(r"%time\s+(?=[^\s-])")
_COMPARISON = re.compile(r"[=!<>]=$")


def is_cell_magic(source: str) -> bool:
    """Does a cell begin with a line that has to stay its first?"""
    return source.lstrip().startswith("%%")


@dataclass(frozen=True, slots=True)
class Written:
    """The Python file that a cell writes, or appends to, and the cell without the magic."""

    name: str
    appends: bool
    python: str


def written_by(source: str) -> Written | None:
    """The Python file that a cell writes, if it is such a cell; in it, magics are none."""
    found = _WRITES.match(source)
    if found is None:
        return None
    python = blank(found.group()) + source[found.end() :]
    return Written(found["name"], found["append"] is not None, python)


def python_of(source: str, *, bare: bool = False) -> str | None:
    """The cell with everything masked that is no Python; None when none of it is.

    ``bare`` looks for magics without a sign as well.
    """
    magic = _CELL_MAGIC.match(source.lstrip())
    if magic and magic[1] not in PYTHON_CELLS:
        return None
    ends = [match.group() for match in NEWLINE.finditer(source)]
    lines = _masked(NEWLINE.split(source), bare)
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))


def blank(source: str) -> str:
    """The cell without any code."""
    return re.sub(r"[^\r\n]+", _comment, source)


def _comment(match: re.Match[str]) -> str:
    return "#" + MASK * (len(match.group()) - 1)


@dataclass(slots=True)
class _Reader:
    """How far strings and brackets are open at the end of the lines read so far."""

    string: str = ""
    depth: int = 0
    continued: bool = False

    @property
    def begins(self) -> bool:
        """Does a statement begin with the next line?"""
        return not self.string and self.depth == 0 and not self.continued

    def read(self, line: str) -> tuple[int, int | None]:
        """Where the code of a line ends, and where a magic begins that is assigned."""
        self.continued = False
        magic: int | None = None
        at = 0
        while at < len(line):
            if self.string:
                at = self._in_string(line, at)
                continue
            character = line[at]
            if character == "#":
                return at, magic
            if character in "\"'":
                triple = line[at : at + 3]
                self.string = triple if triple in ('"""', "'''") else character
                at += len(self.string)
                continue
            if character in "([{":
                self.depth += 1
            elif character in ")]}":
                self.depth = max(0, self.depth - 1)
            elif character in "%!" and self.depth == 0 and magic is None:
                before = line[:at].rstrip()
                if before.endswith("=") and not _COMPARISON.search(before):
                    magic = at
            at += 1
        self.continued = line.endswith("\\")
        if len(self.string) == 1 and not self.continued:  # a mistake, which ends with its line
            self.string = ""
        return len(line), magic

    def _in_string(self, line: str, at: int) -> int:
        while at < len(line):
            if line[at] == "\\":
                at += 2
            elif line.startswith(self.string, at):
                at += len(self.string)
                self.string = ""
                return at
            else:
                at += 1
        return at


def _masked(lines: list[str], bare: bool) -> list[str]:
    found: list[str] = []
    reader = _Reader()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        begins, before = reader.begins, (reader.string, reader.depth)
        end, assigned = reader.read(line)
        start = _escape(line, end, assigned, reader) if begins else None
        if bare and begins and start is None and _BARE.match(line.lstrip()):
            start = len(line) - len(line.lstrip())
        if start is None:
            found.append(line)
            continue
        reader.string, reader.depth = before
        reader.continued = False
        found.append(_timed(line, start) or line[:start] + _hidden(line[start:]))
        while line.endswith("\\") and number < len(lines):
            line = lines[number]
            number += 1
            found.append(re.sub(r".+", _comment, line))
    return found


def _escape(line: str, end: int, assigned: int | None, after: _Reader) -> int | None:
    """Where on the first line of a statement that begins which is no Python, if anywhere."""
    indent = len(line) - len(line.lstrip())
    is_help = line[:end].rstrip().endswith("?") and not after.string
    if line[indent : indent + 1] in ("%", "!", "?") or is_help:
        return indent
    return assigned


def _hidden(text: str) -> str:
    """A value that nothing is known of, and nothing else."""
    return "_#"[: len(text)] + MASK * (len(text) - 2)


def _timed(line: str, start: int) -> str | None:
    """``%time`` runs a statement in the program itself."""
    timed = _TIMED.match(line, start)
    if timed is None:
        return None
    statement = line[timed.end() :]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(statement).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if len(body) != 1 or hasattr(body[0], "body"):
        return None
    return f"{line[:start]}_;{' ' * (timed.end() - start - 2)}{statement}"
