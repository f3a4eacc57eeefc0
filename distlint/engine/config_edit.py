"""Add a key to a configuration file and leave the rest of its text as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from distlint.engine.config_file import PYPROJECT, TABLE, parsed
from distlint.engine.errors import ConfigError

_HEADER = re.compile(r"\s*\[")
_OUR_HEADER = re.compile(r"\s*\[\s*tool\s*\.\s*distlint\s*\]\s*(#.*)?$")


def with_key(text: str, file: Path, key: str, value: str) -> str | None:
    """The text with a key whose value is a string, or None if there is no place for it.

    TOML is not parsed into places here: likely ones are tried, and the result has to parse to
    what the file said before, and the key.

    Raises:
        ConfigError: if the text is not TOML.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    line = f'{key} = "{value}"{newline}'
    wanted = _added(parsed(text, file), file, key, value)
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    for place in _places(lines, file):
        if _reads_as(wanted, changed := "".join([*lines[:place], line, *lines[place:]]), file):
            return changed
    if file.name == PYPROJECT:
        changed = "".join([*lines, newline, f"[{TABLE}]{newline}", line])
        return changed if _reads_as(wanted, changed, file) else None
    return None


def _added(content: dict[str, object], file: Path, key: str, value: str) -> dict[str, object]:
    """What the file has to say afterwards."""
    wanted = dict(content)
    table = wanted
    for part in TABLE.split(".") if file.name == PYPROJECT else ():
        inner = table.get(part)
        table[part] = inner = dict(inner) if isinstance(inner, dict) else {}
        table = inner
    table[key] = value
    return wanted


def _reads_as(wanted: dict[str, object], text: str, file: Path) -> bool:
    try:
        return parsed(text, file) == wanted
    except ConfigError:
        return False


def _places(lines: list[str], file: Path) -> Iterator[int]:
    """The lines before which the key may go: the ends of our table, as far as one can see."""
    starts = (
        [number + 1 for number, line in enumerate(lines) if _OUR_HEADER.match(line)]
        if file.name == PYPROJECT
        else [0]
    )
    for start in starts:
        ends = (at for at in range(start, len(lines)) if _HEADER.match(lines[at]))
        for end in (*ends, len(lines)):
            yield _end_of_table(lines, start, end)


def _end_of_table(lines: list[str], start: int, end: int) -> int:
    """Before the comments that belong to the next table, and the empty lines above these."""
    place = end
    if end < len(lines):
        while place > start and lines[place - 1].lstrip().startswith("#"):
            place -= 1
        if place > start and lines[place - 1].strip():
            place = end  # no empty line: the comment may as well belong to the keys
    while place > start and not lines[place - 1].strip():
        place -= 1
    return place
