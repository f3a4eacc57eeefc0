"""The repair of DST301: what is built outside of a retried function is built inside of it."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from distlint.fixers import names, statements
from distlint.fixers.draft import Doubt, Draft
from distlint.fixers.statements import Statement
from distlint.source.finding import Fix

_FREES = frozenset({"free_memory", "clear", "release_memory"})


def moved_inside(draft: Draft, site: int, outer: Iterable[str]) -> Fix:
    """Move the statements that make these names, in their order, to the start of a function.

    Raises:
        Doubt: if something else uses the names, or the statements are not all beside the function.
    """
    function = draft.node(site, cst.FunctionDef)
    if not isinstance(function.body, cst.IndentedBlock):
        raise Doubt("a function on one line")
    beside = statements.siblings(draft, function)
    before = beside[: beside.index(function)]
    moved, gone = _belonging(draft, before, set(outer))
    _require_alone(draft, function, moved, gone)
    _require_inputs(draft, function, moved, gone)
    target, freed = _target(function, gone, draft)
    inner = statements.indent_of(draft, target)
    text = "".join(_text(draft, statement, inner, function) for statement in moved)
    accelerator = _accelerator(moved)
    if accelerator and not freed:
        text = f"{inner}{accelerator}.free_memory(){draft.newline(draft.bounds(target)[0])}{text}"
    statements.prepend(draft, target, text)
    statements.remove(draft, *moved, comments=True)
    return draft.fix("unsafe", f"Build {', '.join(sorted(gone))} inside the function")


def _belonging(
    draft: Draft, before: list[Statement], gone: set[str]
) -> tuple[list[Statement], set[str]]:
    """The statements that bind the names or work on them, and all names that go with them."""
    moved: list[Statement] = []
    size = -1
    while size != len(gone):
        size = len(gone)
        moved = [each for each in before if _belongs(draft, each, gone)]
        gone |= {name for each in moved for name in names.bound(draft, each)}
    for each in moved:
        if not isinstance(each, (cst.Assign, cst.Expr)):
            raise Doubt("made by more than an assignment")
    return moved, gone


def _belongs(draft: Draft, statement: Statement, gone: set[str]) -> bool:
    if names.bound(draft, statement) & gone:
        return not isinstance(statement, (cst.FunctionDef, cst.ClassDef))
    return (
        isinstance(statement, cst.Expr)
        and isinstance(statement.value, cst.Call)
        and bool(names.read(draft, statement) & gone)
    )


def _require_alone(
    draft: Draft, function: cst.FunctionDef, moved: list[Statement], gone: set[str]
) -> None:
    """Nothing but the function and the moved statements may use the names."""
    scope = names.scope_of(draft, function)
    homes: set[cst.CSTNode] = {function, *moved}
    for found in names.used(draft, scope):
        if found.value not in gone or not homes.isdisjoint((found, *draft.ancestors(found))):
            continue
        owner = names.scope_of(draft, found)
        while owner is not scope and found.value not in _own(draft, owner):
            owner = names.scope_of(draft, owner)
        if owner is scope:
            raise Doubt(f"{found.value} is used elsewhere as well")


def _own(draft: Draft, scope: cst.CSTNode) -> set[str]:
    """The names that a function binds itself, parameters included."""
    return {
        found.value
        for found in names.used(draft, scope)
        if names.binds(draft, found) and names.scope_of(draft, found) is scope
    }


def _require_inputs(
    draft: Draft, function: cst.FunctionDef, moved: list[Statement], gone: set[str]
) -> None:
    """What the statements are made from has to mean the same inside of the function."""
    inputs = names.read(draft, *moved) - gone
    params = {param.name.value for param in function.params.params}
    if inputs & (_own(draft, function) | params):
        raise Doubt("a name means something else inside")


def _target(function: cst.FunctionDef, gone: set[str], draft: Draft) -> tuple[Statement, bool]:
    """The statement to build before, behind what frees memory; is there such a one?

    A ``nonlocal`` of the names goes.
    """
    freed = False
    for index, row in enumerate(function.body.body):
        small = row.body[0] if isinstance(row, cst.SimpleStatementLine) else row
        if isinstance(small, (cst.Nonlocal, cst.Global)):
            declared = {item.name.value for item in small.names}
            if declared <= gone:
                statements.remove(draft, small)
            elif declared & gone:
                raise Doubt("nonlocal names some of them among others")
            continue
        if isinstance(small, cst.Expr):
            if index == 0 and isinstance(small.value, cst.SimpleString):
                continue
            if isinstance(small.value, cst.Call) and _last(small.value.func) in _FREES:
                freed = True
                continue
        return small, freed  # type: ignore[return-value]
    raise Doubt("nothing is done inside")


def _text(draft: Draft, statement: Statement, inner: str, function: cst.FunctionDef) -> str:
    """The lines of a moved statement; a loader gets the batch size that is tried."""
    text = statements.moved_text(draft, statement, statements.indent_of(draft, statement), inner)
    size = function.params.params[0].name.value
    for node in names.inside(statement):
        if isinstance(node, cst.Call) and _last(node.func) == "DataLoader":
            given = [arg for arg in node.args if arg.keyword and arg.keyword.value == "batch_size"]
            written = f"batch_size={draft.text(given[0].value)}" if given else ""
            if not written or text.count(written) != 1:
                raise Doubt("where the loader gets its batch size is not certain")
            text = text.replace(written, f"batch_size={size}")
    return text


def _accelerator(moved: list[Statement]) -> str | None:
    """The accelerator that prepares in the moved statements."""
    for statement in moved:
        for node in names.inside(statement):
            if isinstance(node, cst.Call) and _last(node.func) == "prepare":
                if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Name):
                    return node.func.value.value
    return None


def _last(node: cst.BaseExpression) -> str:
    return (names.dotted(node) or "").rpartition(".")[2]
