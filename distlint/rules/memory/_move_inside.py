"""The repair of DST301: what is built outside of a retried function is built inside of it.

What is needed behind the call comes back as a result: ``model, optimizer = train()``.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from distlint.fixers import names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.fixers.statements import Statement
from distlint.source.finding import Fix

_FREES = frozenset({"free_memory", "clear", "release_memory"})


def moved_inside(draft: Draft, site: int, outer: Iterable[str]) -> Fix:
    """Move the statements that make these names, in their order, to the start of a function.

    Names that are used behind the call of the function are returned and unpacked there.

    Raises:
        CannotFix: if anything else uses the names, or not all statements are beside the function.
    """
    function = draft.node(site, cst.FunctionDef)
    if not isinstance(function.body, cst.IndentedBlock):
        raise CannotFix("a function on one line")
    beside = statements.siblings(draft, function)
    before = beside[: beside.index(function)]
    moved, gone = _belonging(draft, before, set(outer))
    used = _used_elsewhere(draft, function, moved, gone)
    _require_inputs(draft, function, moved, gone)
    if used:
        _hand_back(draft, function, used, _in_order(draft, moved, used))
    target, freed = _target(function, gone, draft)
    inner = statements.indent_of(draft, target)
    text = "".join(_text(draft, statement, inner, function) for statement in moved)
    accelerator = _accelerator(moved)
    if accelerator and not freed:
        text = f"{inner}{accelerator}.free_memory(){draft.newline(draft.bounds(target)[0])}{text}"
    statements.prepend(draft, target, text)
    statements.remove(draft, *moved, comments=True)
    created = ", ".join(f"`{name}`" for name in sorted(gone))
    return draft.fix("unsafe", f"Create {created} inside the function")


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
            raise CannotFix("made by more than an assignment")
    return moved, gone


def _belongs(draft: Draft, statement: Statement, gone: set[str]) -> bool:
    if names.bound(draft, statement) & gone:
        return not isinstance(statement, (cst.FunctionDef, cst.ClassDef))
    return (
        isinstance(statement, cst.Expr)
        and isinstance(statement.value, cst.Call)
        and bool(names.read(draft, statement) & gone)
    )


def _used_elsewhere(
    draft: Draft, function: cst.FunctionDef, moved: list[Statement], gone: set[str]
) -> list[cst.Name]:
    """Where the names are used by others than the function and the moved statements."""
    scope = names.scope_of(draft, function)
    homes: set[cst.CSTNode] = {function, *moved}
    elsewhere = []
    for found in names.used(draft, scope):
        if found.value not in gone or not homes.isdisjoint((found, *draft.ancestors(found))):
            continue
        owner = names.scope_of(draft, found)
        while owner is not scope and found.value not in _own(draft, owner):
            owner = names.scope_of(draft, owner)
        if owner is scope:
            elsewhere.append(found)
    return elsewhere


def _in_order(draft: Draft, moved: list[Statement], used: list[cst.Name]) -> list[str]:
    """The names that are used, in the order in which the statements bind them."""
    wanted = {name.value for name in used}
    targets = [
        name
        for statement in moved
        for name in names.used(draft, statement)
        if names.binds(draft, name) and name.value in wanted
    ]
    targets.sort(key=lambda name: draft.bounds(name)[0])
    return list(dict.fromkeys(name.value for name in targets))


def _hand_back(
    draft: Draft, function: cst.FunctionDef, used: list[cst.Name], results: list[str]
) -> None:
    """Return the names from the function, and unpack them where it is called."""
    call = _only_call(draft, function)
    statement = statements.statement_of(draft, call)
    _require_behind(draft, function, statement, used)
    returns = _returns(draft, function, results)
    plain = all(each.value is None for each in returns)
    tail = ", ".join(results)
    for each in returns:
        if each.value is None:
            draft.replace(each, f"return {tail}")
        else:
            draft.replace(each.value, f"{_as_item(draft, each.value)}, {tail}")
    last = statements.siblings(draft, _small(function.body.body[-1]))[-1]
    if not isinstance(last, (cst.Return, cst.Raise)):
        statements.insert_after(draft, last, f"return {tail}" if plain else f"return None, {tail}")
    if isinstance(statement, cst.Expr):
        target = tail if plain else f"_, {tail}"
        draft.splice(*(draft.bounds(statement)[0],) * 2, f"{target} = ")
        if not plain and "_" in names.taken_names(draft):
            raise CannotFix("_ means something here")
    elif isinstance(statement, cst.Assign) and len(statement.targets) == 1 and not plain:
        first = statement.targets[0].target
        draft.replace(first, f"{_as_item(draft, first)}, {tail}")
    else:
        raise CannotFix("what the call is for is not clear")


def _only_call(draft: Draft, function: cst.FunctionDef) -> cst.Call:
    """The one call of the function, a statement of its own scope that does nothing else."""
    scope = names.scope_of(draft, function)
    found = [
        name for name in names.used_as(draft, function.name.value) if name is not function.name
    ]
    call = draft.parent(found[0]) if len(found) == 1 else None
    if not isinstance(call, cst.Call) or call.func is not found[0]:
        raise CannotFix("the function is not called once")
    statement = statements.statement_of(draft, call)
    if not isinstance(statement, (cst.Expr, cst.Assign)) or statement.value is not call:
        raise CannotFix("the call is part of something else")
    if names.scope_of(draft, call) is not scope or _loops(draft, call, scope):
        raise CannotFix("the call may be made several times")
    return call


def _require_behind(
    draft: Draft, function: cst.FunctionDef, statement: Statement, used: list[cst.Name]
) -> None:
    """All uses have to follow the call, in its block and in no function of their own."""
    scope, block = names.scope_of(draft, function), statements.block_of(draft, statement)
    end = draft.bounds(statement)[1]
    for name in used:
        if draft.bounds(name)[0] < end or block not in (*draft.ancestors(name),):
            raise CannotFix(f"{name.value} is used before the call")
        if names.scope_of(draft, name) is not scope:
            raise CannotFix(f"{name.value} is used by another function")


def _returns(draft: Draft, function: cst.FunctionDef, results: list[str]) -> list[cst.Return]:
    found = []
    for node in names.inside(function.body):
        if isinstance(node, cst.Del) and names.root_of(node.target) in results:
            raise CannotFix("the function gives away what is used later")
        if isinstance(node, (cst.Return, cst.Yield, cst.Await)):
            if draft.around(node, cst.FunctionDef) is not function:
                continue
            if not isinstance(node, cst.Return):
                raise CannotFix("a generator or coroutine has no plain result")
            found.append(node)
    return found


def _loops(draft: Draft, node: cst.CSTNode, scope: cst.CSTNode) -> bool:
    for around in draft.ancestors(node):
        if around is scope:
            return False
        if isinstance(around, (cst.For, cst.While)):
            return True
    return False


def _as_item(draft: Draft, node: cst.CSTNode) -> str:
    """The text of an expression as one item of a tuple."""
    bare = isinstance(node, (cst.Tuple, cst.Yield, cst.Lambda, cst.NamedExpr)) and not node.lpar
    return f"({draft.text(node)})" if bare else draft.text(node)


def _small(row: cst.CSTNode) -> Statement:
    """The first statement of a row."""
    if isinstance(row, cst.SimpleStatementLine):
        return row.body[0]
    assert isinstance(row, cst.BaseCompoundStatement)
    return row


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
        raise CannotFix("a name means something else inside")


def _target(function: cst.FunctionDef, gone: set[str], draft: Draft) -> tuple[Statement, bool]:
    """The statement to build before, behind what frees memory; is there such a one?

    A ``nonlocal`` of the names goes.
    """
    freed = False
    for index, row in enumerate(function.body.body):
        small = _small(row)
        if isinstance(row, cst.SimpleStatementLine) and len(row.body) > 1:
            raise CannotFix("statements share a line")
        if isinstance(small, (cst.Nonlocal, cst.Global)):
            declared = {item.name.value for item in small.names}
            if declared <= gone:
                statements.remove(draft, small)
            elif declared & gone:
                raise CannotFix("nonlocal names some of them among others")
            continue
        if isinstance(small, cst.Expr):
            if index == 0 and isinstance(small.value, cst.SimpleString):
                continue
            if isinstance(small.value, cst.Call) and _last(small.value.func) in _FREES:
                freed = True
                continue
        return small, freed
    raise CannotFix("nothing is done inside")


def _text(draft: Draft, statement: Statement, inner: str, function: cst.FunctionDef) -> str:
    """The lines of a moved statement; a loader gets the batch size that is tried."""
    text = statements.moved_text(draft, statement, statements.indent_of(draft, statement), inner)
    size = function.params.params[0].name.value
    for node in names.inside(statement):
        if isinstance(node, cst.Call) and _last(node.func) == "DataLoader":
            given = [arg for arg in node.args if arg.keyword and arg.keyword.value == "batch_size"]
            written = f"batch_size={draft.text(given[0].value)}" if given else ""
            if not written or text.count(written) != 1:
                raise CannotFix("where the loader gets its batch size is not certain")
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
