"""Reproducers for the scripts of the tests."""

from __future__ import annotations

from pathlib import Path

from distlint.confirm.repaired import repaired
from distlint.confirm.reproducers import Reproducer, reproducers
from distlint.engine import documents
from distlint.engine.check import Session
from distlint.engine.settings import Overrides, Resolver
from distlint.rules.registry import rules

NOWHERE = Path("/nowhere")
RULES = Path(__file__).parent.parent / "rules"


def written(source: str, name: str = "train.py") -> list[Reproducer]:
    """The reproducers for a script that stands alone."""
    resolver = Resolver(Overrides(isolated=True), NOWHERE)
    document = documents.from_bytes(source.encode(), NOWHERE / name)
    return reproducers(document, Session(resolver), resolver.of_file(document.path))


def written_after_fixes(source: str, *, unsafe: bool | None = True) -> list[Reproducer]:
    """The same for what fixes make of the script."""
    resolver = Resolver(Overrides(isolated=True), NOWHERE)
    document = documents.from_bytes(source.encode(), NOWHERE / "train.py")
    return repaired(document, resolver, resolver.of_file(document.path), unsafe)


def bad_examples() -> dict[str, str]:
    """The examples of the rules about ranks that diverge, by a name."""
    return {
        f"{code}-{example.title}": example.code
        for code, rule in rules().items()
        if code.startswith("DST1")
        for example in rule.bad
    }


def in_folder(name: str) -> dict[str, str]:
    """The scripts of a folder of the rule tests, by their paths."""
    folder = RULES / name
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*.py")}
