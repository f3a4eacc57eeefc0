"""What a file with rules of a project says about them, read without running it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from distlint.rules.base import Rule
from distlint.rules.registry import is_own_code
from distlint.source.finding import Severity

MAX_SIZE = 1_000_000
_CLASSES_IN = (ast.If, ast.Try, ast.With)


def declared_rules(files: Iterable[Path]) -> Mapping[str, type[Rule]]:
    """The rules that files declare, by code: with names and docstrings, and without examples.

    They cannot be asked about anything. A code that is computed, or inherited, is not seen.
    """
    found: dict[str, type[Rule]] = {}
    for file in files:
        try:
            if file.stat().st_size <= MAX_SIZE:
                found.update(_declared_in(file.read_bytes()))
        except OSError:
            continue
    return found


@lru_cache(maxsize=32)
def _declared_in(source: bytes) -> Mapping[str, type[Rule]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    rules = (_rule(node) for node in _classes(tree.body))
    return {rule.code: rule for rule in rules if rule is not None}


def _classes(body: Iterable[ast.stmt]) -> Iterator[ast.ClassDef]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield statement
        elif isinstance(statement, _CLASSES_IN):
            yield from _classes(statement.body)


def _rule(node: ast.ClassDef) -> type[Rule] | None:
    values = dict(_values(node.body))
    code, name = values.get("code"), values.get("name")
    if not isinstance(code, str) or not isinstance(name, str) or not is_own_code(code):
        return None
    said = {
        "code": code,
        "name": name,
        "preview": values.get("preview") is True,
        "severity": Severity.__members__.get(str(values.get("severity"))),
        "__doc__": ast.get_docstring(node) or f"{node.name}.",
    }
    return type(node.name, (Rule,), said)


def _values(body: Iterable[ast.stmt]) -> Iterator[tuple[str, object]]:
    """The names that are assigned constants."""
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from _assigned(target, statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield from _assigned(statement.target, statement.value)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, object]]:
    if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
        yield target.id, value.value
    elif isinstance(target, ast.Name) and isinstance(value, ast.Attribute):
        yield target.id, value.attr
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for each, part in zip(target.elts, value.elts, strict=False):
            yield from _assigned(each, part)
