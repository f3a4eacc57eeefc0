"""Rows of the catalogue as scripts that call what the row describes, one file for each framework.

A file holds ``start``, with which its scripts begin, ``parts``, further beginnings by name, and one
``[[row]]`` for each script:

- ``call``: the name in the catalogue; one name may have several scripts;
- ``start``: instead of that of the file; ``parts``: which of the parts, in order; ``setup``: what
  is made before the call, all on all ranks;
- ``do``: the call; ``who``: a test of the ranks that make it in the script in which the others do
  not (rank 0, if not given); ``meet``: where all ranks meet afterwards (in a barrier);
- ``meets``: does it wait for the others? Without the key, as its table says: a collective does, and
  what is neutral does not. ``meets = false`` is for a call under another condition than that of the
  row, and ``why`` says which;
- ``gives``: an expression for what the call returns or changes, checked against ``result``;
- ``value``: instead of ``do``, an expression for the rank or size; ``equals``: what it must be on a
  rank, where the table does not say it. Such scripts run on four ranks of two nodes;
- ``ranks`` (two) and ``needs`` (the packages of the file).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distlint.engine.config_file import parsed

FOLDER = Path(__file__).parent
MEET = "torch.distributed.barrier()"
NODES = """\
import os
rank = int(os.environ["RANK"])
os.environ.update(
    LOCAL_RANK=str(rank % 2), LOCAL_WORLD_SIZE="2", GROUP_RANK=str(rank // 2), GROUP_WORLD_SIZE="2"
)
"""
"""Four ranks as on two nodes."""


@dataclass(frozen=True)
class Script:
    """A row of such a file."""

    framework: str
    number: int
    call: str
    head: str
    do: str = ""
    who: str = "rank == 0"
    meet: str = MEET
    meets: bool | None = None
    why: str = ""
    gives: str | None = None
    value: str | None = None
    equals: str | None = None
    ranks: int = 2
    needs: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.call}-{self.number}"

    @property
    def by_all(self) -> str:
        """All ranks make the call, and say what they have afterwards."""
        shown = ""
        if self.gives is not None:
            shown = f"print('gives:', repr({self.gives}).replace(chr(10), ' '))\n"
        return f"{self.head}\n{self.do.strip()}\n{shown}{self.meet}\n"

    @property
    def by_some(self) -> str:
        """Some ranks make the call, then all of them meet."""
        indented = "\n".join(f"    {line}" for line in self.do.strip().splitlines())
        return f"{self.head}\nif {self.who}:\n{indented}\n{self.meet}\n"

    @property
    def of_value(self) -> str:
        """Each rank says which value it sees."""
        return f"{NODES}{self.head}\nprint('value:', {self.value})\n{self.meet}\n"


def scripts() -> Iterator[Script]:
    """All rows of all files."""
    for path in sorted(FOLDER.glob("*.toml")):
        yield from _of_file(path)


def _of_file(path: Path) -> Iterator[Script]:
    content = parsed(path.read_text(encoding="utf-8"), path)
    counts: dict[str, int] = {}
    for row in content["row"]:
        counts[row["call"]] = number = counts.get(row["call"], 0) + 1
        yield _script(path.stem, number, content, dict(row))


def _script(framework: str, number: int, content: Mapping[str, Any], row: dict[str, Any]) -> Script:
    begins = [row.pop("start", content["start"])]
    begins += [content["parts"][part] for part in row.pop("parts", ())]
    head = "\n".join(each.strip() for each in (*begins, row.pop("setup", "")))
    needs = tuple(row.pop("needs", content.get("needs", ())))
    if "value" in row:
        row.setdefault("ranks", 4)
    return Script(framework=framework, number=number, head=head.strip(), needs=needs, **row)
