"""The file of a notebook: where the sources of its cells stand in the JSON, and other ones."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from distlint.source.document import NEWLINE, DocumentError
from distlint.source.edits import Lines
from distlint.source.notebook import PYTHON

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a code cell, the number of that among all cells, and where it stands."""

    number: int
    source: str
    start: int
    end: int


def parsed(text: str) -> tuple[str, list[Source]]:
    """The language of a notebook, and the sources of its code cells if that is Python.

    Raises:
        DocumentError: if it is no notebook.
    """
    if not text.removeprefix(_BOM).strip():
        return PYTHON, []  # an editor has only created it
    content = _json(text)
    if not isinstance(content, dict) or not isinstance(content.get("nbformat", 4), int):
        raise DocumentError("not a notebook")
    at = len(_BOM) if text.startswith(_BOM) else 0
    offsets = dict(_members(text, _past_space(text, at)))
    if content.get("nbformat", 4) < 4:
        key, sheets = "input", _sheets(content, text, offsets)
    elif isinstance(content.get("cells"), list):
        key, sheets = "source", [(content["cells"], offsets["cells"][0])]
    else:
        raise DocumentError("not a notebook: it has no cells")
    language = _language(content.get("metadata"))
    found = []
    number = 0
    for cells, where in sheets:
        for content, (start, _) in zip(cells, _items(text, where), strict=True):
            number += 1
            source = _source_of(content, key)
            if source is not None and language == PYTHON:
                found.append(Source(number, source, *dict(_members(text, start))[key]))
    return language, found


def _json(text: str) -> Any:
    try:
        return json.loads(text.removeprefix(_BOM))
    except json.JSONDecodeError as error:
        raise DocumentError(f"not a notebook: {error.msg}", error.lineno, error.colno) from None
    except (ValueError, RecursionError):
        raise DocumentError("not a notebook: invalid JSON") from None


def _sheets(
    content: Mapping[str, Any], text: str, offsets: Mapping[str, tuple[int, int]]
) -> list[tuple[list[Any], int]]:
    """The cells of each worksheet of a notebook of format 3 and older."""
    sheets = content.get("worksheets")
    if not isinstance(sheets, list):
        raise DocumentError("not a notebook: it has no cells")
    found = []
    starts = [start for start, _ in _items(text, offsets["worksheets"][0])]
    for sheet, start in zip(sheets, starts, strict=True):
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
            found.append((sheet["cells"], dict(_members(text, start))["cells"][0]))
    return found


def _language(metadata: object) -> str:
    """The language of a notebook's kernel; Python when none is named. Python 2 is another one."""
    tables = metadata if isinstance(metadata, dict) else {}
    kernel, info = tables.get("kernelspec"), tables.get("language_info")
    version = str(info.get("version", "")) if isinstance(info, dict) else ""
    for table, key in ((info, "name"), (kernel, "language")):
        name = table.get(key) if isinstance(table, dict) else None
        if isinstance(name, str) and name:
            lowered = name.lower()
            is_python = lowered in (PYTHON, "ipython", "python3")
            return ("python 2" if version.startswith("2.") else PYTHON) if is_python else lowered
    return PYTHON


def _source_of(cell: object, key: str) -> str | None:
    """The source of a code cell in Python."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    metadata = cell.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    told = editor.get("languageId") if isinstance(editor, dict) else None
    language = cell.get("language") or told or PYTHON
    source = cell.get(key)
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return source if isinstance(source, str) and language == PYTHON else None


_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def _past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The keys of the object at an offset, and where their values stand."""
    at = _past_space(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _past_space(text, _past_space(text, at) + 1)  # behind the colon
        _, at = _DECODER.raw_decode(text, start)
        yield key, (start, at)
        at = _past_comma(text, at)


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the items of the array at an offset stand."""
    at = _past_space(text, at + 1)
    while text[at] != "]":
        start = at
        _, at = _DECODER.raw_decode(text, start)
        yield start, at
        at = _past_comma(text, at)


def _past_comma(text: str, at: int) -> int:
    at = _past_space(text, at)
    return _past_space(text, at + 1) if text[at] == "," else at


def rows_in_file(data: bytes) -> dict[tuple[int, int], int]:
    """The row of the file that each row of each cell begins on."""
    text = data.decode("utf-8")
    starts = Lines(text).starts
    found = {}
    for cell in parsed(text)[1]:
        row = 1
        for start, end in _strings(text, cell.start):
            found[cell.number, row] = bisect_right(starts, start)
            for _ in NEWLINE.findall(str(json.loads(text[start:end]))):
                row += 1
                found[cell.number, row] = bisect_right(starts, start)
    return found


def _strings(text: str, start: int) -> list[tuple[int, int]]:
    """Where the strings of a source stand: it is a list of them, or one."""
    if text[start] == "[":
        return list(_items(text, start))
    return [(start, _DECODER.raw_decode(text, start)[1])]


def rewritten(data: bytes, sources: Iterable[tuple[int, int, str]]) -> bytes:
    """The bytes of a notebook with other sources: where each stands, and the new one.

    All else, and the lines that stay, are kept as they are.
    """
    text = data.decode("utf-8")
    ascii_only = text.isascii() and "\\u" in text
    parts = []
    at = 0
    for start, end, source in sources:
        parts += [text[at:start], _source(text, start, end, source, ascii_only)]
        at = end
    return "".join([*parts, text[at:]]).encode("utf-8")


def _source(text: str, start: int, end: int, after: str, ascii_only: bool) -> str:
    """A source as JSON, in the layout of the one that it takes the place of."""
    if text[start] != "[":
        return json.dumps(after, ensure_ascii=ascii_only)
    items = list(_items(text, start))
    if not items or not after:
        return json.dumps([after] if after else [], ensure_ascii=ascii_only)
    head = text[start : items[0][0]]
    tail = text[items[-1][1] : end]
    if len(items) > 1:
        between = text[items[0][1] : items[1][0]]
    else:
        between = f",{head[1:] or ' '}"
    written = {json.loads(text[first:last]): text[first:last] for first, last in items}
    lines = [
        written.get(line) or json.dumps(line, ensure_ascii=ascii_only)
        for line in after.splitlines(keepends=True)
    ]
    return f"{head}{between.join(lines)}{tail}"
