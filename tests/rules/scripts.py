"""The scripts beside this file: correct ones (``traps``, ``silent``), bugs (``bugs``, ``misses``).

``traps`` look like bugs, ``silent`` were false alarms once, and ``misses`` are not found so far.

Each is a whole program. Comments below its docstring say how it is executed: ``# ranks: 4``,
``# needs: accelerate``, ``# effect: hang`` (of a bug), ``# static: why it is not executed``.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

_HEADER = re.compile(r"^# (ranks|needs|effect|static): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A script and what its header says."""

    name: str
    source: str
    title: str
    ranks: int
    needs: tuple[str, ...]
    effect: str
    why_static: str


def scripts(folder: str) -> list[Script]:
    """The scripts of one of the folders, by name."""
    paths = sorted((Path(__file__).parent / folder).glob("*.py"))
    return [_read(path) for path in paths]


def _read(path: Path) -> Script:
    source = path.read_text()
    header = dict(_HEADER.findall(source))
    title = ast.get_docstring(ast.parse(source))
    assert title, f"{path.name} has no docstring"
    static = header.get("static", "")
    return Script(
        name=path.stem,
        source=source,
        title=title,
        ranks=int(header.get("ranks", 2)),
        needs=tuple(header["needs"].split(", ")) if "needs" in header else (),
        effect="static" if static else header.get("effect", "finishes"),
        why_static=static,
    )
