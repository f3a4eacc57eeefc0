"""The scripts that are executed: the examples of the rules, the traps, and the bugs."""

from __future__ import annotations

from dataclasses import dataclass

from distlint.harness.cluster import LIMIT
from distlint.rules.base import Example
from distlint.rules.registry import rules
from tests.rules.scripts import scripts


@dataclass(frozen=True)
class Case:
    """A script and what it must show."""

    label: str
    code: str
    source: str
    ranks: int
    effect: str
    needs: tuple[str, ...]
    why_static: str
    file: str = "script.py"
    limit: float = LIMIT
    """In seconds."""

    @property
    def runs(self) -> bool:
        return self.effect != "static"


def examples(kind: str, *, static: bool = False) -> list[Case]:
    """The good or the bad examples of all rules about scripts; or those that do not run."""
    return [
        _case(code, kind, number, example)
        for code, rule in rules().items()
        if not code.startswith("DST0")
        for number, example in enumerate(getattr(rule, kind), start=1)
        if (example.effect == "static") == static
    ]


def _case(code: str, kind: str, number: int, example: Example) -> Case:
    title = example.title.lower().replace(" ", "-")
    return Case(
        label=f"{code}-{kind}{number}-{title}",
        code=code,
        source=example.code,
        ranks=example.ranks,
        effect=example.effect,
        needs=example.needs,
        why_static=example.why_static,
        file=example.file,
    )


def of_folder(folder: str, *, static: bool = False) -> list[Case]:
    """The scripts of a folder in tests/rules; or those that do not run."""
    return [
        Case(
            label=script.name,
            code=folder,
            source=script.source,
            ranks=script.ranks,
            effect=script.effect,
            needs=script.needs,
            why_static=script.why_static,
        )
        for script in scripts(folder)
        if (script.effect == "static") == static
    ]
