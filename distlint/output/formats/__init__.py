"""The formats of a report: modules with ``write(report, page)``, loaded when asked for.

The module's name is the format's; nothing else needs to know of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Protocol, cast

from distlint.source.report import Report, RuleText


@dataclass(frozen=True, slots=True)
class Page:
    """Where a report goes and how it is to look; ``explain`` tells what is known of a rule."""

    stream: IO[str]
    explain: Callable[[str], RuleText | None] = lambda code: None
    color: bool = False
    width: int = 100
    quiet: bool = False
    unsafe: bool = False
    verbose: bool = False
    tried: bool = False
    """Were fixes applied before? What is left of them did not pass."""


class Format(Protocol):
    """What a module of this package offers."""

    def write(self, report: Report, page: Page) -> None: ...


def names() -> tuple[str, ...]:
    """The names of all formats, told without importing any."""
    files = os.listdir(os.path.dirname(__file__))
    stems = (name.removesuffix(".py") for name in files if name.endswith(".py"))
    return tuple(sorted(stem for stem in stems if not stem.startswith("_")))


def load(name: str) -> Format:
    return cast(Format, import_module(f"{__name__}.{name}"))
