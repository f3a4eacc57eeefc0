"""Write the tables of docs/found.md from benchmarks/found.jsonl. With --check, say if it is stale.

What is above the marker in the page is written by hand.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from benchmarks.found import Row, rows
from distlint.rules.page import file_name
from distlint.rules.registry import rules
from scripts import generated

PAGE = Path(__file__).parent.parent / "docs" / "found.md"
MARKER = "<!-- Below: python -m scripts.generate_found -->\n"
HEADINGS = {
    "hang": "Hangs",
    "crash": "Crashes",
    "wrong": "Wrong results",
    "lost": "Lost or damaged files",
}


def page() -> str:
    """What the page is to be."""
    head = PAGE.read_text(encoding="utf-8").partition(MARKER)[0]
    known = rows()
    parts = [_summary(known)]
    for effect, heading in HEADINGS.items():
        of_it = sorted(
            (row for row in known if row.effect == effect),
            key=lambda row: (row.code, row.repository.lower(), row.path, row.line),
        )
        parts.append(f"## {heading}\n\n{_table(of_it)}")
    return head + MARKER + "\n" + "\n".join(parts)


def _summary(known: list[Row]) -> str:
    repositories = {row.repository for row in known}
    codes = {row.code for row in known}
    effects = Counter(row.effect for row in known)
    executed = sum(bool(row.shown) for row in known)
    counts = [f"{effects[effect]} {heading.lower()}" for effect, heading in HEADINGS.items()]
    return (
        f"{len(known)} bugs in {len(repositories)} repositories, found by {len(codes)} rules: "
        f"{', '.join(counts)}.\nThe mechanism of {executed} is executed.\n"
    )


def _table(known: list[Row]) -> str:
    lines = ["| found in | what happens | rule | executed |", "| --- | --- | --- | --- |"]
    for row in known:
        cells = (_place(row), row.happens, _rule(row.code), _shown(row))
        lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def _rule(code: str) -> str:
    return f"[{code}](rules/{file_name(rules()[code])})"


def _place(row: Row) -> str:
    blob = f"https://github.com/{row.repository}/blob/{row.commit}/{quote(row.path)}#L{row.line}"
    return f"{row.repository} at {row.commit[:12]}: [`{row.path}:{row.line}`]({blob})"


def _shown(row: Row) -> str:
    if row.shown.startswith("bugs/"):
        return f"`{row.shown[5:]}`"
    if row.shown:
        code, _, number = row.shown.partition("-bad")
        title = rules()[code].bad[int(number) - 1].title
        return f"{_rule(code)}: {title[0].lower()}{title[1:]}"
    return ""


if __name__ == "__main__":
    sys.exit(generated.write_file(PAGE, page()))
