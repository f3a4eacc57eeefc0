"""Write the table of what the catalogue describes of each framework into docs/coverage.md.

With --check, say whether it is up to date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from distlint.engine.config_file import parsed
from scripts.generated import write_file

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coverage.md"
CATALOGUE = ROOT / "distlint" / "catalogue" / "frameworks"

COLUMNS = {
    "collectives": ("collective", "first"),
    "ranks and sizes": ("rank", "uniform"),
    "guards": ("guard",),
    "classes": ("class",),
    "old names": ("retired",),
}
"""Columns, and the tables of the catalogue that are counted for each."""

_NO_FRAMEWORKS = frozenset({"python", "files", "distlint"})
_TABLE = re.compile(r"^\| package \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def table() -> str:
    """A row for each file of the catalogue that describes a package."""
    head = f"| package | version | {' | '.join(COLUMNS)} |"
    rows = [head, f"| --- | --- |{' ---: |' * len(COLUMNS)}"]
    for file in sorted(CATALOGUE.glob("*.toml")):
        if file.stem not in _NO_FRAMEWORKS:
            content = parsed(file.read_text(encoding="utf-8"), file)
            counts = [sum(_count(content, each) for each in kinds) for kinds in COLUMNS.values()]
            if not any(counts):
                continue
            cells = [f"`{file.stem}`", str(content.get("version", "")), *map(str, counts)]
            rows.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(rows)


def _count(content: Mapping[str, Any], kind: str) -> int:
    """How many names the rows of a table describe: ``call = "x.{a,b}"`` are two."""
    rows = content.get(kind, [])
    return sum(map(_names, rows)) if isinstance(rows, list) else len(rows)


def _names(row: Mapping[str, Any]) -> int:
    name = str(row.get("call") or row.get("name") or "")
    braces = re.search(r"\{([^}]*)\}", name)
    return len(braces[1].split(",")) if braces else 1


def wanted() -> str:
    """What the page is to hold."""
    return _TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(write_file(PAGE, wanted()))
