"""The runtime as one file that a project can keep: what it uses, and what that needs.

Works on the text of ``distlint/runtime``; neither that package nor torch is imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import distlint
from distlint.catalogue import RUNTIME as RUNTIME_MODULE
from distlint.engine import documents
from distlint.engine.discovery import discover
from distlint.engine.errors import ConfigError, did_you_mean
from distlint.engine.settings import Resolver
from distlint.engine.writing import NotWritten, replace
from distlint.source.document import DocumentError
from distlint.source.nesting import examine

RUNTIME = Path(distlint.__file__).parent / "runtime"
MARK = "# Vendored from distlint.runtime "
ALL = "all"
BASE = ("errors", "_world")  # everything else builds on these

HEADER = """\
{mark}{version}. Do not edit: `distlint vendor` writes it anew.
# Names: {names}
#
# Copyright the distlint maintainers. Licensed under the Apache License, Version 2.0; you may obtain
# a copy at https://www.apache.org/licenses/LICENSE-2.0. Distributed on an "AS IS" basis, without
# warranties or conditions of any kind.
# SPDX-License-Identifier: Apache-2.0
#
# ruff: noqa
"""


def vendored(path: Path, names: Sequence[str] | None) -> str:
    """The text of the file at ``path``, with these names and what they need; None means all.

    Raises:
        ConfigError: if a name is not one of the runtime.
    """
    known = public_names()
    for name in names or ():
        if name not in known:
            raise ConfigError(f"distlint.runtime has no `{name}`{did_you_mean(name, known)}")
    chosen = sorted(known) if names is None else sorted(set(names))
    needed = _closure(chosen)
    statements = [
        statement
        for module in _in_order()
        for statement in module.statements
        if any((module.name, name) in needed for name in statement.names)
    ]
    listed = ALL if names is None else ", ".join(chosen)
    body = "".join(statement.text.rstrip() + "\n\n\n" for statement in statements)
    return (
        HEADER.format(mark=MARK, version=distlint.__version__, names=listed)
        + '"""Utilities for distributed PyTorch training, from distlint.runtime."""\n\n'
        + "from __future__ import annotations\n\n"
        + _imports(statements)
        + f"\n\n__all__ = {_list(chosen)}\n\n\n"
        + body.replace("from distlint.runtime import", f"from {path.stem} import").rstrip()
        + "\n"
    )


def names_used(path: Path) -> list[str] | None:
    """What the project around ``path`` imports from the runtime, or has in the file that is there.

    None means all. Imports count from ``distlint.runtime`` and from the vendored file by its name.

    Raises:
        ConfigError: if there is nothing.
    """
    found: set[str] = set()
    before = names_in(path) if path.exists() else []
    if before is None:
        return None
    resolver = Resolver()
    root = resolver.of_folder(path.parent).root
    for target in discover([root], resolver).targets:
        if target.path != path:
            found |= _imported(target.path, path.stem)
    known = public_names()
    names = sorted((found & known) | set(before))
    if not names:
        raise ConfigError(
            f"no file below {root} imports anything from distlint.runtime; "
            "say what to write with --names or --all"
        )
    return names


def names_in(path: Path) -> list[str] | None:
    """The names that a vendored file was written for; None means all.

    Raises:
        ConfigError: if it is some other file, which must not be overwritten.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    if len(lines) < 2 or not lines[0].startswith(MARK):
        raise ConfigError(f"{path} was not written by `distlint vendor`, and is left as it is")
    names = lines[1].removeprefix("# Names: ").strip()
    known = public_names()
    return None if names == ALL else [n for n in names.split(", ") if n in known]


def write(path: Path, text: str) -> bool:
    """Replace the file at once; False if it was like that before.

    Raises:
        ConfigError: if there is a file that is not a vendored one, or it cannot be written.
    """
    before = path.read_bytes() if path.exists() else None
    after = text.encode()
    if before is not None:
        names_in(path)
        if before == after:
            return False
    try:
        replace(path, before, after)
    except NotWritten as error:
        raise ConfigError(f"{path}: {error}") from None
    return True


@cache
def public_names() -> frozenset[str]:
    """The names that ``distlint.runtime`` exports."""
    return frozenset(name for names in _exports().values() for name in names)


@cache
def _exports() -> dict[str, tuple[str, ...]]:
    tree = ast.parse((RUNTIME / "__init__.py").read_text("utf-8"))
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _bound(statement) == ("EXPORTS",):
            exports: dict[str, tuple[str, ...]] = ast.literal_eval(statement.value)
            return exports
    raise AssertionError("distlint.runtime has no EXPORTS")


@dataclass
class _Statement:
    """A statement at the top of a module, with the comments above it."""

    names: tuple[str, ...]
    text: str
    uses: frozenset[str]
    module: _Module = field(repr=False)


@dataclass
class _Module:
    name: str
    statements: list[_Statement]
    own: dict[str, tuple[str, str]]  # name -> (module of the runtime, its name there)
    foreign: dict[str, ast.Import | ast.ImportFrom]  # name -> the one import that binds it


@cache
def _modules() -> dict[str, _Module]:
    names = {*BASE, *_exports()}
    pending = list(names)
    found: dict[str, _Module] = {}
    while pending:
        name = pending.pop()
        module = found[name] = _parsed(name)
        for home, _ in module.own.values():
            if home not in names:
                names.add(home)
                pending.append(home)
    return found


def _parsed(name: str) -> _Module:
    source = (RUNTIME / f"{name}.py").read_text("utf-8")
    lines = source.splitlines(keepends=True)
    module = _Module(name, [], {}, {})
    end = 0
    for position, statement in enumerate(ast.parse(source).body):
        first, end = end, statement.end_lineno or end
        if position == 0 and ast.get_docstring(ast.parse(source)) is not None:
            continue
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            _note_import(module, statement)
            continue
        text = "".join(lines[first:end]).strip("\n")
        names = _bound(statement)
        if not names and module.statements:  # about the variable above
            module.statements[-1].text += "\n" + text
            module.statements[-1].uses |= set(_used(statement))
            continue
        module.statements.append(_Statement(names, text, frozenset(_used(statement)), module))
        module.own.update({each: (name, each) for each in names})
    return module


def _note_import(module: _Module, statement: ast.Import | ast.ImportFrom) -> None:
    ours = isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(
        f"{RUNTIME_MODULE}."
    )
    for alias in statement.names:
        bound = alias.asname or alias.name.partition(".")[0]
        if ours:
            assert isinstance(statement, ast.ImportFrom)
            assert statement.module is not None
            home = statement.module.removeprefix(f"{RUNTIME_MODULE}.")
            module.own[bound] = (home, alias.name)
        elif isinstance(statement, ast.ImportFrom):
            module.foreign[bound] = ast.ImportFrom(statement.module, [alias], 0)
        else:
            module.foreign[bound] = ast.Import([alias])


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (statement.name,)
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    return tuple(
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    )


def _used(statement: ast.AST) -> Iterator[str]:
    """Names that a statement mentions, also in types that are written as text."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"[\w.]+( \| |\[)[\w. |\]]+", node.value):  # a type
                try:
                    tree = ast.parse(node.value, mode="eval")
                except SyntaxError:
                    continue
                yield from (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))


def _closure(names: Iterable[str]) -> set[tuple[str, str]]:
    """These names and all that they need, as (module, name)."""
    modules = _modules()
    home = {name: module for module, names in _exports().items() for name in names}
    pending = [_resolved(home[name], name) for name in names]
    needed: set[tuple[str, str]] = set()
    while pending:
        place = pending.pop()
        if place in needed:
            continue
        needed.add(place)
        module = modules[place[0]]
        for statement in module.statements:
            if place[1] in statement.names:
                pending += [_resolved(place[0], used) for used in statement.uses & set(module.own)]
                pending += [(place[0], other) for other in statement.names]
    return needed


def _resolved(module: str, name: str) -> tuple[str, str]:
    """Where a name that a module has comes from."""
    found = _modules()[module].own[name]
    return found if found[0] == module else _resolved(*found)


def _in_order() -> list[_Module]:
    """Modules after those that they import from."""
    modules = _modules()
    ordered: list[_Module] = []

    def visit(module: _Module) -> None:
        if module in ordered:
            return
        for home in sorted({home for home, _ in module.own.values()} - {module.name}):
            visit(modules[home])
        ordered.append(module)

    for name in (*BASE, *sorted(modules)):
        visit(modules[name])
    return ordered


def _imports(statements: Sequence[_Statement]) -> str:
    whole: set[str] = set()
    parts: dict[str, set[str]] = {}
    for statement in statements:
        for name in statement.uses & statement.module.foreign.keys():
            node = statement.module.foreign[name]
            if isinstance(node, ast.ImportFrom):
                parts.setdefault(str(node.module), set()).add(ast.unparse(node.names[0]))
            else:
                whole.add(ast.unparse(node))
    lines = sorted(whole)
    for module, names in sorted(parts.items()):
        line = f"from {module} import {', '.join(sorted(names))}"
        if len(line) > 100:
            inner = "".join(f"    {name},\n" for name in sorted(names))
            line = f"from {module} import (\n{inner})"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _list(names: Sequence[str]) -> str:
    return "[\n" + "".join(f'    "{name}",\n' for name in names) + "]"


def _imported(file: Path, stem: str) -> set[str]:
    """Names that a file takes from the runtime, or from a module that is called like the file."""
    try:
        document = documents.read(file)
        if b"runtime" not in document.code and stem.encode() not in document.code:
            return set()
        if examine(document.text).excess is not None:
            return set()
        tree = ast.parse(document.text)
    except (OSError, SyntaxError, ValueError, DocumentError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    aliases: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            ours = module == RUNTIME_MODULE or module.startswith(f"{RUNTIME_MODULE}.")
            if ours or module.rpartition(".")[2] == stem:
                names |= {alias.name for alias in node.names}
            for alias in node.names:
                if (module == "distlint" and alias.name == "runtime") or alias.name == stem:
                    aliases.add(alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == RUNTIME_MODULE or alias.name.rpartition(".")[2] == stem:
                    aliases.add(alias.asname or alias.name)
    names |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in aliases
    }
    return names
