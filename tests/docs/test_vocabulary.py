"""What a reader sees is in the words of the field: one vocabulary for messages, help and pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

INSTEAD_OF = {
    r"parts? (ways|here|the ranks|them)|ways part|the ranks part": "diverge",
    r"nobody|somebody": "no rank, other ranks, the process",
    r"for ever": "indefinitely",
    r"behind": "after",
    r"in front of": "before",
    r"mend(s|ed|ing)?": "fix",
    r"anew": "recreate, again",
    r"pass(es|ed|ing)? over": "ignore, skip",
    r"(held|holds?|holding) \w+ against": "compare",
    r"without a word": "silently",
    r"(working )?folders?": "directory, current directory",
    r"of (its|their) own": "separate, or nothing",
    r"tak(e|es|en|ing) back|took back": "revert",
    r"(comes?|came|coming) to (a|the|this|that|it|them|`)": "reach",
    r"tells?|told|telling": "report, say, identify, distinguish",
    r"every other rank": "the other ranks",
    r"(each|every|one|first|second|next|last|a|this|that) turns?": "iteration",
    r"turns? of (a|the|this|that) loop": "iteration",
    r"model cluster": "simulated cluster",
    r"rehears(e|es|ed|al|als|ing)": "analyse, simulate, execute symbolically",
    r"rank's own": "rank-local",
    r"put(s|ting)? .{0,20}together": "merge",
    r"smoke right": "smoke test passed",
    r"gone? astray|went astray": "diverge",
    r"speaks?( up)?|spoke": "report",
}
"""Words of which readers would have to learn the meaning, and the field's word."""

UNUSUAL = re.compile(rf"\b({'|'.join(INSTEAD_OF)})\b", re.IGNORECASE)

EXPLAINED = {
    "docs/rehearsal.md": "rehears",
    "docs/architecture.md": "rehears",
    "docs/found.md": "behind",  # in the name of a rule, to which it links
}
"""Pages that introduce the name of an idea."""

PRINTS = (
    "cli",
    "confirm",
    "diagnose",
    "doctor",
    "engine",
    "harness",
    "output",
    "rules",
    "runtime",
    "server",
)
"""Packages whose texts users read."""


def sources() -> Iterator[Path]:
    for package in PRINTS:
        yield from sorted((ROOT / "distlint" / package).rglob("*.py"))
    yield from sorted((ROOT / "distlint" / "diagnose").rglob("*.toml"))
    yield from (ROOT / "README.md", ROOT / "editors" / "vscode" / "README.md")
    yield ROOT / "editors" / "vscode" / "package.json"
    yield from sorted((ROOT / "docs").glob("*.md"))


@cache
def texts(path: Path) -> tuple[str, ...]:
    """What a file says to users: sentences of its strings, or all of it if it is no code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return (re.sub(r"```.*?```", "", text, flags=re.DOTALL),)
    return tuple(_strings(ast.parse(text))) if path.suffix == ".py" else (text,)


def _strings(tree: ast.Module) -> Iterator[str]:
    hidden: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            # of classes, those of rules are pages
            is_page = isinstance(node, ast.ClassDef) and any(
                ast.unparse(base).endswith("Rule") for base in node.bases
            )
            hidden.update(
                id(each.value)
                for each in node.body
                if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
                if not is_page
            )
        elif isinstance(node, ast.keyword) and node.arg == "code":
            hidden.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            if id(node) not in hidden:
                yield re.sub(r"```.*?```", "", node.value, flags=re.DOTALL)


@pytest.mark.parametrize("path", list(sources()), ids=lambda path: str(path.relative_to(ROOT)))
def test_words_are_those_of_the_field(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    allowed = EXPLAINED.get(name)
    found = [
        " ".join(text[max(0, match.start() - 50) : match.end() + 30].split())
        for text in texts(path)
        for match in UNUSUAL.finditer(text)
        if not (allowed and match[0].lower().startswith(allowed))
    ]
    assert found == []


def test_the_words_are_found() -> None:
    assert UNUSUAL.search("here the ranks part ways")
    assert UNUSUAL.search("ten folders")
    assert not UNUSUAL.search("ranks diverge; a return of the function")
