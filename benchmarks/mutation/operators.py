"""What all operators share: a site is a mutant, or a reason why there is none."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.mutation.repository import Repository
from benchmarks.mutation.source import Source


@dataclass(frozen=True)
class Site:
    """A place where an operator applies; no text where the mutant would be equivalent."""

    row: int
    """The line of the original that is broken."""
    what: str
    text: str = ""
    equivalent: str = ""


Sites = Callable[[Source, Repository], Iterator[Site]]


@dataclass(frozen=True)
class Operator:
    """A way to break correct code, and the codes by which the break is told."""

    name: str
    sites: Sites
    codes: tuple[str, ...]
    words: tuple[bytes, ...]
    """A file without any of these has no site."""
    group: str = "one file"

    def expects(self, code: str) -> bool:
        return code.startswith(self.codes)


def one_line(node: ast.AST) -> str:
    """A node in few words."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
