"""Import a name where imports belong, or use what the file imports already; drop stale imports.

Only imports that run for certain before the place count: plain statements of the module and of the
functions around the place. What stands under ``if TYPE_CHECKING``, in a ``try`` or under any other
condition may not be there.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from distlint.fixers import names, statements
from distlint.fixers.draft import Draft

_LIBRARIES = ("torch", "accelerate", "lightning", "transformers", "deepspeed")


def imported(draft: Draft, module: str, name: str, at: cst.CSTNode) -> str:
    """How to write ``name`` of ``module`` at a node; imports it if nothing does yet.

    For ``imported(draft, "distlint.runtime", "any_rank", at)`` that is ``any_rank`` as a rule,
    ``runtime.any_rank`` after ``from distlint import runtime``, or an alias where the name is
    taken.
    """
    own = draft.imported.get((module, name))
    if own is not None:
        return own
    for statement in _visible(draft, at):
        written = _written(draft, statement, module, name, at)
        if written is not None:
            return written
    wish = f"{module.rpartition('.')[2]}_{name}"
    local = names.free_name(draft, name, wish, f"_{name}")
    alias = name if local == name else f"{name} as {local}"
    draft.imported[module, name] = local
    existing = _from_import(draft, module, at)
    added = draft.import_lines.get(module)
    if existing is not None:
        _extend(draft, existing, alias)
    elif added is not None:
        draft.import_lines[module] = f"{added}, {alias}"
        draft.amend(added, draft.import_lines[module])
    else:
        draft.import_lines[module] = f"from {module} import {alias}"
        _insert(draft, module, draft.import_lines[module], at)
    return local


def drop_if_stale(draft: Draft, local: str, gone: tuple[cst.CSTNode, ...]) -> None:
    """Remove the import of a name that only the nodes in ``gone`` use; they are to be replaced."""
    without = {name for node in gone for name in names.inside(node)}
    if any(
        name not in without and not _imports(draft, name) for name in names.used_as(draft, local)
    ):
        return
    if draft.document.path.name == "__init__.py" or _exports(draft, local):
        return
    for row in draft.tree.body:
        if not isinstance(row, cst.SimpleStatementLine):
            continue
        if row.trailing_whitespace.comment is not None:
            continue  # the comment says why it is there
        for statement in row.body:
            if isinstance(statement, (cst.Import, cst.ImportFrom)):
                _drop(draft, statement, local)


def _visible(draft: Draft, at: cst.CSTNode) -> Iterator[cst.Import | cst.ImportFrom]:
    """The imports that have run when the place is reached, the nearest scope first."""
    inner: cst.CSTNode = at
    start = draft.bounds(at)[0]
    for scope in (*draft.ancestors(at),):
        if isinstance(scope, (cst.FunctionDef, cst.Module)):
            body = scope if isinstance(scope, cst.Module) else scope.body
            in_function = isinstance(inner, cst.FunctionDef)
            for row in body.body:
                if isinstance(row, cst.SimpleStatementLine):
                    for statement in row.body:
                        if isinstance(statement, (cst.Import, cst.ImportFrom)):
                            if in_function or draft.bounds(statement)[0] < start:
                                yield statement
            inner = scope


def _written(
    draft: Draft,
    statement: cst.Import | cst.ImportFrom,
    module: str,
    name: str,
    at: cst.CSTNode,
) -> str | None:
    """How an import lets one write the name, if it does and nothing hides it at the place."""
    if isinstance(statement.names, cst.ImportStar):
        return None
    source = _source(statement)
    for alias in statement.names:
        whole = names.dotted(alias.name) or ""
        local = names.dotted(alias.asname.name) if alias.asname else None
        if isinstance(statement, cst.ImportFrom):
            if source == module and whole == name:
                found = local or name
            elif f"{source}.{whole}" == module:
                found = f"{local or whole}.{name}"
            else:
                continue
        elif whole == module:
            found = f"{local or whole}.{name}"
        else:
            continue
        if _means_only_this(draft, found.partition(".")[0], at):
            return found
    return None


def _means_only_this(draft: Draft, local: str, at: cst.CSTNode) -> bool:
    """Is a name bound by imports alone, in every scope that the place can see?"""
    scopes = [scope for scope in draft.ancestors(at) if isinstance(scope, cst.FunctionDef)]
    for name in names.used_as(draft, local):
        if not names.binds(draft, name) or _imports(draft, name):
            continue
        scope = names.scope_of(draft, name)
        if scope is draft.tree or scope in scopes:
            return False
    return True


def _imports(draft: Draft, name: cst.Name) -> bool:
    return any(isinstance(node, (cst.Import, cst.ImportFrom)) for node in draft.ancestors(name))


def _source(statement: cst.Import | cst.ImportFrom) -> str:
    if isinstance(statement, cst.Import):
        return ""
    return "." * len(statement.relative) + (names.dotted(statement.module) or "")


def _from_import(draft: Draft, module: str, at: cst.CSTNode) -> cst.ImportFrom | None:
    """A statement ``from module import ...`` of the module itself, to which a name can be added."""
    inside = draft.around(at, cst.FunctionDef) is not None
    for row in draft.tree.body:
        if not isinstance(row, cst.SimpleStatementLine) or len(row.body) != 1:
            continue
        statement = row.body[0]
        if (
            isinstance(statement, cst.ImportFrom)
            and not isinstance(statement.names, cst.ImportStar)
            and _source(statement) == module
            and (inside or draft.bounds(statement)[0] < draft.bounds(at)[0])
        ):
            return statement
    return None


def _extend(draft: Draft, statement: cst.ImportFrom, alias: str) -> None:
    assert not isinstance(statement.names, cst.ImportStar)
    last = statement.names[-1]
    start, end = draft.bounds(last.asname.name if last.asname else last.name)
    if not isinstance(last.comma, cst.Comma):
        draft.splice(end, end, f", {alias}")
        return
    comma = draft.bounds(last.comma)[1]
    start = draft.bounds(last)[0]
    indent = draft.source[draft.line_start(start) : start]
    if indent.strip():
        draft.splice(comma, comma, f" {alias},")
    else:
        line = draft.line_end(comma)
        draft.splice(line, line, f"{draft.newline(comma)}{indent}{alias},")


def _insert(draft: Draft, module: str, line: str, at: cst.CSTNode) -> None:
    """A new line among the other libraries, sorted by module as isort does, else behind all."""
    header = _header(draft, at)
    if not header:
        statements.insert_at_start(draft, draft.tree, line)
        return
    after = header[-1]
    for group in _groups(draft, header):
        if any(_root(statement) in _LIBRARIES for statement in group):
            later = [s for s in group if isinstance(s, cst.ImportFrom) and _source(s) > module]
            if later:
                statements.insert_before(draft, later[0], line)
                return
            after = group[-1]
            break
    statements.insert_after(draft, after, line)


def _header(draft: Draft, at: cst.CSTNode) -> list[cst.Import | cst.ImportFrom]:
    """The plain imports of the module before its first definition, and before the place."""
    found: list[cst.Import | cst.ImportFrom] = []
    around = {at, *draft.ancestors(at)}
    for row in draft.tree.body:
        if row in around or isinstance(row, (cst.FunctionDef, cst.ClassDef)):
            break
        if isinstance(row, cst.SimpleStatementLine) and len(row.body) == 1:
            statement = row.body[0]
            if isinstance(statement, (cst.Import, cst.ImportFrom)):
                if _source(statement) != "__future__":
                    found.append(statement)
    return found


def _groups(
    draft: Draft, header: list[cst.Import | cst.ImportFrom]
) -> list[list[cst.Import | cst.ImportFrom]]:
    """The imports that stand line by line, without anything between them."""
    groups: list[list[cst.Import | cst.ImportFrom]] = []
    row = 0
    for statement in header:
        start, end = draft.bounds(statement)
        if not groups or draft.row_of(start) != row + 1:
            groups.append([])
        groups[-1].append(statement)
        row = draft.row_of(end)
    return groups


def _root(statement: cst.Import | cst.ImportFrom) -> str:
    if isinstance(statement, cst.Import):
        return (names.dotted(statement.names[0].name) or "").partition(".")[0]
    return _source(statement).partition(".")[0]


def _exports(draft: Draft, local: str) -> bool:
    """Does ``__all__`` or any other string name it?"""
    return any(node.value.strip("\"'") == local for node in draft.nodes(cst.SimpleString))


def _drop(draft: Draft, statement: cst.Import | cst.ImportFrom, local: str) -> None:
    if isinstance(statement.names, cst.ImportStar):
        return
    aliases = list(statement.names)
    for index, alias in enumerate(aliases):
        bound = names.dotted(alias.asname.name) if alias.asname else names.dotted(alias.name)
        if bound != local:
            continue
        if len(aliases) == 1:
            statements.remove(draft, statement)
        elif index + 1 < len(aliases):
            draft.splice(draft.bounds(alias)[0], draft.bounds(aliases[index + 1])[0], "")
        else:
            previous = aliases[index - 1]
            start = draft.bounds(previous.asname.name if previous.asname else previous.name)[1]
            end = draft.bounds(alias.asname.name if alias.asname else alias.name)[1]
            draft.splice(start, end, "")
        return
