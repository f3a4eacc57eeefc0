"""Numbers in text that may be hostile."""

from __future__ import annotations

import re

MOST = 2**62
"""No size, count or rank is larger. Python refuses to print numbers of thousands of digits."""
_LONGEST = 100
"""Characters: nothing longer was written as a number or a version."""
_DIGITS = re.compile(r"\d+")
_MOST_DIGITS = 18


def whole_number(text: str, base: int = 10) -> int | None:
    """The integer that a text is; None if it is none, or out of any reasonable range."""
    if len(text) > _LONGEST:
        return None
    try:
        number = int(text, base)
    except ValueError:
        return None
    return number if abs(number) <= MOST else None


def version_numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version; of one that is too long, its first digits."""
    return tuple(int(part[:_MOST_DIGITS]) for part in _DIGITS.findall(version[:_LONGEST]))
