"""Numbers in text that may be hostile: Python refuses to read or print thousands of digits."""

from __future__ import annotations

import re

_LONGEST = 240
"""Characters. A number that is not longer fits a float, in bases up to 16."""
_DIGITS = re.compile(r"\d+")
_MOST_DIGITS = 18


def whole_number(text: str, base: int = 10) -> int | None:
    """The integer that a text is; None if it is none, or out of any reasonable range."""
    if len(text) > _LONGEST:
        return None
    try:
        return int(text, base)
    except ValueError:
        return None


def version_numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version; of one that is too long, its first digits."""
    return tuple(int(part[:_MOST_DIGITS]) for part in _DIGITS.findall(version[:_LONGEST]))
