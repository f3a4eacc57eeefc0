"""What the software prints when a job fails: the entries of ``signatures/*.toml``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).with_name("signatures")
FORMAT = 1
WINDOW = 8192
"""Characters of a message that patterns look at."""

Role = Literal["cause", "wait", "echo", "ended", "summary", "notice", "invented"]


@dataclass(frozen=True)
class Signature:
    """One message and what it means.

    ``role`` is *cause* for what went wrong on the rank that says it, *wait* for a rank that waited
    in vain, *echo* for what follows a failure elsewhere, *ended* for a job that a person or a
    scheduler has ended, *summary* for what a launcher tells of its
    processes, *notice* for what ends nothing, *invented* for what no software prints. ``broad``
    yields to any other cause of the same rank, which says more.
    """

    id: str
    role: Role
    literals: tuple[str, ...]
    pattern: str
    title: str
    meaning: str
    help: str = ""
    severity: str = ""
    lines: int = 1
    rules: tuple[str, ...] = ()
    utilities: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    broad: bool = False
    checked: str = field(default="", compare=False)

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def needles(self) -> tuple[bytes, ...]:
        return tuple(literal.encode() for literal in self.literals)

    @property
    def level(self) -> str:
        """``error``, ``warning`` or ``info``."""
        if self.severity:
            return self.severity
        return {"notice": "warning", "invented": "info"}.get(self.role, "error")

    def match(self, text: str) -> re.Match[str] | None:
        return self.regex.search(text[:WINDOW])

    def explained(self, groups: dict[str, str]) -> tuple[str, str]:
        """Meaning and help, with what stood in the message."""
        known = _Known(groups)
        return self.meaning.format_map(known), self.help.format_map(known)


class _Known(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "?"


@lru_cache(maxsize=1)
def signatures() -> dict[str, Signature]:
    """All entries by id."""
    found: dict[str, Signature] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for entry in _entries(path):
            if entry.id in found:
                raise ValueError(f"{path.name}: duplicate id {entry.id}")
            found[entry.id] = entry
    return found


def _entries(path: Path) -> Iterator[Signature]:
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(f"{path.name}: format {content.get('format')}, expected {FORMAT}")
    for row in content["signature"]:
        row = {
            key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
        }
        yield Signature(**row, checked=content["checked"])


# Words that stand in many literals: one search for each takes the place of a search for every
# literal, where that is cheaper. The longer a text, the faster it is looked for.
_SHARED = (
    *("collective", "DeepSpeed", "process group", "deprecated", "Connection ", "kill event"),
    *("interface found", "Expected to ", "endezvous", "atchdog", " option", "failed", "etected"),
)


@lru_cache(maxsize=1)
def needles() -> tuple[bytes, ...]:
    """Byte strings, one of which is in every line that a signature begins in."""
    return fewest(literal for each in signatures().values() for literal in each.literals)


def fewest(literals: Iterable[str]) -> tuple[bytes, ...]:
    """Strings such that each literal holds one of them, and that are cheap to look for."""
    left = set(literals)
    chosen = []
    for word in _SHARED:
        covered = {each for each in left if word in each}
        if sum(1 / len(each) for each in covered) > 1 / len(word):
            chosen.append(word)
            left -= covered
    chosen += [each for each in left if not any(o != each and o in each for o in left)]
    return tuple(sorted(word.encode() for word in chosen))
