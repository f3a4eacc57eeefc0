"""Files that a script writes, and the question whether they are up to date."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path


def stale(folder: Path, suffix: str, wanted: Mapping[str, str]) -> list[str]:
    """The files of a folder that are missing, out of date or left over."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob(f"*{suffix}")}
    return sorted(
        name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name)
    )


def write(folder: Path, suffix: str, wanted: Mapping[str, str]) -> int:
    """Write what is wanted and delete the rest; with ``--check``, say what would change."""
    changed = stale(folder, suffix, wanted)
    if "--check" in sys.argv[1:]:
        shown = f"{folder.parent.name}/{folder.name}"
        print("\n".join(f"{shown}/{name} is out of date" for name in changed) or "up to date")
        return 1 if changed else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return 0


def write_file(file: Path, wanted: str) -> int:
    """Write one file if it is not what is wanted; with ``--check``, say that it is out of date."""
    if file.read_text(encoding="utf-8") == wanted:
        return 0
    if "--check" in sys.argv[1:]:
        print(f"{file.name} is out of date")
        return 1
    file.write_text(wanted, encoding="utf-8")
    return 0
