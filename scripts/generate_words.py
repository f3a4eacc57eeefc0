"""Write distlint/rules/words.py from the rules. With --check, say whether it is up to date."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from distlint.rules.base import SourceRule
from distlint.rules.registry import rules
from scripts import generated

FILE = Path(__file__).parent.parent / "distlint" / "rules" / "words.py"

HEAD = '''\
"""The words that rules declare, by code, as regular expressions.

Written by ``python -m scripts.generate_words``. They are kept here because the
prefilter must not import the rules.
"""

WORDS: dict[str, list[str]] = {
'''
MIDDLE = """\
}

SHARED: dict[str, list[str]] = {
"""


def text() -> str:
    """The module, as it should be."""
    asked = [rule for rule in rules().values() if issubclass(rule, SourceRule)]
    words = ((rule.code, (*map(re.escape, rule.words), *rule.patterns)) for rule in asked)
    shared = ((rule.code, rule.shared) for rule in asked)
    return f"{HEAD}{_rows(words)}{MIDDLE}{_rows(shared)}}}\n"


def _rows(patterns: Iterable[tuple[str, Sequence[str]]]) -> str:
    return "".join(_row(code, list(map(_literal, each))) for code, each in patterns if each)


def _row(code: str, literals: Sequence[str]) -> str:
    row = f'    "{code}": [{", ".join(literals)}],\n'
    if len(row) <= 101:
        return row
    return "".join((f'    "{code}": [\n', *(f"        {each},\n" for each in literals), "    ],\n"))


def _literal(pattern: str) -> str:
    raw = f'r"{pattern}"' if "\\" in pattern else f'"{pattern}"'
    return raw if '"' not in pattern else repr(pattern)


if __name__ == "__main__":
    sys.exit(generated.write_file(FILE, text()))
