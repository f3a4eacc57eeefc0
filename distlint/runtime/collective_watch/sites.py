"""Where a call comes from: cheap to take while the program runs, put into words by the thread.

A *path* is a tuple ``(code, instruction, code, instruction, ...)`` from the inside out: the first
frame outside torch and distlint, then frames of the user's own files, at most ``DEPTH`` in all. A
code object stands there as its ``id``, since its hash is computed anew each time from all that it
holds; it is kept alive here, so that the number remains its own.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import itertools
import linecache
import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import NamedTuple

Path = tuple[int, ...]

DEPTH = 4
_PASSED_OVER, _LIBRARY, _USER = 0, 1, 2
_MOST_CODES = 50_000

_kinds: dict[int, int] = {}
_codes: dict[int, CodeType] = {}


class Site(NamedTuple):
    """A line of a file."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        where = "" if self.function == "<module>" else f" in {self.function}"
        return f"{shown(self.file)}:{self.line}{where}"


def path(frame: FrameType | None) -> Path:
    """The path of a call that was made in this frame or further out."""
    found: list[int] = []
    while frame is not None:
        code = frame.f_code
        kind = _kinds.get(id(code))
        if kind is None:
            kind = _classify(code)
        if kind == _USER or (kind == _LIBRARY and not found):
            found += (id(code), frame.f_lasti)
            if len(found) == 2 * DEPTH:
                break
        frame = frame.f_back
    return tuple(found)


def stack(frame: FrameType | None) -> list[Site]:
    """All frames of the user and of libraries other than torch, from the inside out."""
    found = []
    while frame is not None:
        code = frame.f_code
        if _kind_of_file(code.co_filename) != _PASSED_OVER:
            found.append(Site(code.co_filename, frame.f_lineno or 0, code.co_name))
        frame = frame.f_back
    return found


def user_site(sites: list[Site]) -> Site | None:
    """The innermost frame of the user's own files, else the innermost of all."""
    for site in sites:
        if _kind_of_file(site.file) == _USER:
            return site
    return sites[0] if sites else None


@functools.lru_cache(maxsize=8192)
def resolve(place: Path) -> tuple[Site | None, Site | None]:
    """The user's own line of a path, and the line of the library that it went through, if any."""
    frames = [(_codes[code], at) for code, at in zip(place[::2], place[1::2], strict=True)]
    if not frames:
        return None, None
    first = _site(*frames[0])
    if _kinds.get(place[0]) == _LIBRARY and len(frames) > 1:
        return _site(*frames[1]), first
    return first, None


@functools.lru_cache(maxsize=8192)
def arguments(place: Path) -> tuple[str, ...]:
    """What was passed, as the source says it, in each frame of the path.

    Two calls with the same texts are taken to carry the same payload, wherever they stand.
    """
    frames = zip(place[::2], place[1::2], strict=True)
    return tuple(_argument(_codes[code], instruction) for code, instruction in frames)


def shown(file: str) -> str:
    """The name to print: relative to the working folder when the file lies below it."""
    here = os.getcwd() + os.sep
    return file[len(here) :] if file.startswith(here) else file


def _classify(code: CodeType) -> int:
    if len(_kinds) >= _MOST_CODES:  # a program that makes code without end
        return _PASSED_OVER
    _codes[id(code)] = code
    kind = _kinds[id(code)] = _kind_of_file(code.co_filename)
    return kind


@functools.lru_cache(maxsize=8192)
def _kind_of_file(file: str) -> int:
    if file.startswith(("<frozen", *_inside())):
        return _PASSED_OVER
    if any(file.startswith(folder) for folder in _packages()):
        return _LIBRARY
    return _PASSED_OVER if file.startswith(_standard_library()) else _USER


@functools.lru_cache(maxsize=1)
def _inside() -> tuple[str, ...]:
    """The folders of distlint.runtime and of torch, whose frames nobody asks for."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    torch = importlib.util.find_spec("torch")  # it may not have been imported yet
    theirs = [os.path.dirname(torch.origin)] if torch is not None and torch.origin else []
    return tuple(folder + os.sep for folder in (ours, *theirs))


@functools.lru_cache(maxsize=1)
def _packages() -> tuple[str, ...]:
    schemes = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    folders = {name for name in sys.path if name.endswith(("site-packages", "dist-packages"))}
    return tuple(sorted({os.path.abspath(folder) + os.sep for folder in schemes | folders}))


@functools.lru_cache(maxsize=1)
def _standard_library() -> str:
    return os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def _site(code: CodeType, instruction: int) -> Site:
    return Site(code.co_filename, _line(code, instruction), code.co_name)


def _line(code: CodeType, instruction: int) -> int:
    for start, end, line in code.co_lines():
        if start <= instruction < end:
            return line or code.co_firstlineno
    return code.co_firstlineno


def _argument(code: CodeType, instruction: int) -> str:
    text = _source(code, instruction)
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return text.strip()
    if isinstance(call, ast.Await):
        call = call.value
    if not isinstance(call, ast.Call):
        return text.strip()
    passed = [ast.unparse(each) for each in call.args]
    passed += [
        ast.unparse(each)
        for each in call.keywords
        if each.arg not in ("op", "group", "async_op", "src", "dst")
    ]
    return ", ".join(passed) if passed else ast.unparse(call.func)


def _source(code: CodeType, instruction: int) -> str:
    """The text of the call, exactly where the interpreter knows its extent (3.11 and later)."""
    first = _line(code, instruction)
    if sys.version_info < (3, 11):
        return linecache.getline(code.co_filename, first)
    spans = itertools.islice(code.co_positions(), instruction // 2, None)
    row, end_row, column, end_column = next(spans, (None, None, None, None))
    if row is None or end_row is None or column is None or end_column is None:
        return linecache.getline(code.co_filename, first)
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(row, end_row + 1)]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return b" ".join(line.strip() for line in lines).decode(errors="replace")
