"""Paths and other text from outside, made fit to print on one line."""

from __future__ import annotations

import os
from pathlib import Path

STDIN = Path("-")


def display(path: Path) -> str:
    """A path as the user would type it: relative when below the working directory, printable."""
    try:
        shown = os.fspath(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        shown = os.fspath(path)
    return printable(shown)


def printable(text: str) -> str:
    """Escape what would break the line or the terminal: newlines, control and undecoded bytes."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that did not decode
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
