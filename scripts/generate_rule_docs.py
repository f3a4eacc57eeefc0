"""Write docs/rules/ from the rules. With --check, say whether it is up to date instead."""

from __future__ import annotations

import sys
from pathlib import Path

from distlint.rules.page import file_name, index, page
from distlint.rules.registry import rules

FOLDER = Path(__file__).parent.parent / "docs" / "rules"


def pages() -> dict[str, str]:
    """The pages by file name."""
    return {"index.md": index(), **{file_name(rule): page(rule) for rule in rules().values()}}


def differences() -> list[str]:
    """The files that are missing, stale or left over."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(
        name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name)
    )


def main() -> int:
    stale = differences()
    if "--check" in sys.argv[1:]:
        print("\n".join(f"docs/rules/{name} is out of date" for name in stale) or "up to date")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for name in stale:
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
