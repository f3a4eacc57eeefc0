"""Write docs/rules/ from the rules. With --check, say whether it is up to date instead."""

from __future__ import annotations

import sys
from pathlib import Path

from distlint.rules.page import file_name, index, page
from distlint.rules.registry import rules
from scripts import generated

FOLDER = Path(__file__).parent.parent / "docs" / "rules"


def pages() -> dict[str, str]:
    """The pages by file name."""
    return {"index.md": index(), **{file_name(rule): page(rule) for rule in rules().values()}}


def differences() -> list[str]:
    """The files that are missing, stale or left over."""
    return generated.stale(FOLDER, ".md", pages())


if __name__ == "__main__":
    sys.exit(generated.write(FOLDER, ".md", pages()))
