"""Write the table of what the catalogue describes of each framework into docs/coverage.md.

With --check, say whether it is up to date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from distlint.catalogue.schema import parse_row
from distlint.engine.config_file import parsed
from scripts.generated import write_file

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coverage.md"
CATALOGUE = ROOT / "distlint" / "catalogue" / "frameworks"
EXECUTED = ROOT / "tests" / "executed" / "rows"

COLUMNS = {
    "collectives": ("collective", "first"),
    "ranks and sizes": ("rank", "uniform"),
    "guards": ("guard",),
    "classes": ("class",),
    "old names": ("retired",),
}
"""Columns, and the tables of the catalogue that are counted for each."""

TESTED = ("collective", "first", "rank", "uniform")
"""Tables of which the column ``executed`` counts what the tests run."""

_NO_FRAMEWORKS = frozenset({"python", "files", "distlint"})
_TABLE = re.compile(r"^\| package \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def table() -> str:
    """A row for each file of the catalogue that describes a package."""
    head = f"| package | version | {' | '.join(COLUMNS)} | executed |"
    rows = [head, f"| --- | --- |{' ---: |' * (len(COLUMNS) + 1)}"]
    for file in sorted(CATALOGUE.glob("*.toml")):
        if file.stem not in _NO_FRAMEWORKS:
            content = parsed(file.read_text(encoding="utf-8"), file)
            counts = [len(_names(file.stem, content, kinds)) for kinds in COLUMNS.values()]
            if not any(counts):
                continue
            counts.append(len(_executed(file.stem, content)))
            cells = [f"`{file.stem}`", str(content.get("version", "")), *map(str, counts)]
            rows.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(rows)


def _names(package: str, content: Mapping[str, Any], kinds: Iterable[str]) -> set[str]:
    """What the rows of some tables describe: ``call = "x.{a,b}"`` are two."""
    return {
        record.name
        for kind in kinds
        for row in content.get(kind, [])
        for record, _ in parse_row(kind, row, package, package)
    }


def _executed(package: str, content: Mapping[str, Any]) -> set[str]:
    """The collectives, ranks and sizes that do in a script of the tests what their row says."""
    file = EXECUTED / f"{package}.toml"
    if not file.exists():
        return set()
    rows = parsed(file.read_text(encoding="utf-8"), file)["row"]
    return _names(package, content, TESTED) & {row["call"] for row in rows if "why" not in row}


def wanted() -> str:
    """What the page is to hold."""
    return _TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(write_file(PAGE, wanted()))
