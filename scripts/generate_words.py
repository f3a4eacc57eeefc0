"""Write distlint/rules/words.py from the rules. With --check, say whether it is up to date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from distlint.rules.base import SourceRule
from distlint.rules.registry import rules

FILE = Path(__file__).parent.parent / "distlint" / "rules" / "words.py"

HEAD = '''\
"""The words that rules declare, by code. Written by ``python -m scripts.generate_words``.

They are kept here because the prefilter must not import the rules.
"""

WORDS: dict[str, tuple[str, ...]] = {
'''


def text() -> str:
    """The module, as it should be."""
    rows = [
        f"    {json.dumps(code)}: ({', '.join(map(json.dumps, rule.words))},),\n"
        if len(rule.words) == 1
        else f"    {json.dumps(code)}: ({', '.join(map(json.dumps, rule.words))}),\n"
        for code, rule in rules().items()
        if issubclass(rule, SourceRule) and rule.words
    ]
    return f"{HEAD}{''.join(rows)}}}\n"


def main() -> int:
    wanted = text()
    if FILE.read_text(encoding="utf-8") == wanted:
        return 0
    if "--check" in sys.argv[1:]:
        print("distlint/rules/words.py is out of date")
        return 1
    FILE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
