"""What statements read and bind by name, names that are free, and renaming."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

from distlint.fixers.draft import CannotFix, Draft


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all that it is made of."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(found.children)


def used(draft: Draft, node: cst.CSTNode) -> Iterator[cst.Name]:
    """The names in a node that stand for variables: no attributes, no names of keywords."""
    if node is draft.tree:
        for names in draft.once(_by_value).values():
            yield from names
        return
    for found in inside(node):
        if isinstance(found, cst.Name) and _is_variable(draft, found):
            yield found


def used_as(draft: Draft, value: str) -> list[cst.Name]:
    """Those of the file that are written so."""
    return draft.once(_by_value).get(value, [])


def _by_value(draft: Draft) -> dict[str, list[cst.Name]]:
    table: dict[str, list[cst.Name]] = {}
    for found in draft.nodes(cst.Name):
        if _is_variable(draft, found):
            table.setdefault(found.value, []).append(found)
    return table


def bound_in(draft: Draft, scope: cst.CSTNode, value: str) -> list[cst.Name]:
    """The names written so that a function, or the module, binds: not functions in it."""
    memo = draft.once(_bindings)
    if value not in memo:
        memo[value] = {}
        for found in used_as(draft, value):
            if binds(draft, found):
                memo[value].setdefault(scope_of(draft, found), []).append(found)
    return memo[value].get(scope, [])


def _bindings(draft: Draft) -> dict[str, dict[cst.CSTNode, list[cst.Name]]]:
    """Filled in as values are asked for."""
    return {}


def _is_variable(draft: Draft, name: cst.Name) -> bool:
    parent = draft.parent(name)
    if isinstance(parent, cst.Attribute) and parent.attr is name:
        return False
    if isinstance(parent, cst.Arg) and parent.keyword is name:
        return False
    return not _is_of_module(draft, name)


def _is_of_module(draft: Draft, name: cst.Name) -> bool:
    """Is it part of what an import names there, rather than what it is called here?"""
    node: cst.CSTNode = name
    parent = draft.parent(node)
    while isinstance(parent, cst.Attribute):
        node, parent = parent, draft.parent(parent)
    if isinstance(parent, cst.ImportFrom):
        return parent.module is node
    return isinstance(parent, cst.ImportAlias) and parent.asname is not None


def read(draft: Draft, *nodes: cst.CSTNode) -> frozenset[str]:
    """The names that nodes mention and do not bind right there, as comprehensions do."""
    found = set()
    for node in nodes:
        own = {name.value for name in used(draft, node) if _is_local(draft, name)}
        found |= {name.value for name in used(draft, node) if not binds(draft, name)} - own
    return frozenset(found)


def bound(draft: Draft, *nodes: cst.CSTNode) -> frozenset[str]:
    """The names that statements bind in their scope, however deep in blocks."""
    return frozenset(
        name.value
        for node in nodes
        for name in used(draft, node)
        if binds(draft, name) and not _is_local(draft, name)
    )


def stored(draft: Draft, *nodes: cst.CSTNode) -> frozenset[str]:
    """The names that statements bind or store into, as ``a`` in ``a.b[0] = 1``."""
    found = set(bound(draft, *nodes))
    for node in nodes:
        for target in inside(node):
            if isinstance(target, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)):
                root = root_of(target.target)
                if root:
                    found.add(root)
    return frozenset(found)


def available(draft: Draft, name: str, at: cst.CSTNode, *, called: bool = False) -> bool:
    """Is a name bound on every way to a place, as far as blocks tell?

    ``called``: the place is a function, which is called when all of the scope has run.
    """
    scope = scope_of(draft, at)
    here = bound_in(draft, scope, name)
    declared = any(isinstance(draft.parent(found), cst.NameItem) for found in here)
    if not here or declared:
        if isinstance(scope, cst.Module):
            return hasattr(builtins, name)
        return available(draft, name, scope, called=True)
    start = len(draft.source) if called else draft.bounds(at)[0]
    around = {at, *draft.ancestors(at)}
    return any(
        isinstance(draft.parent(found), cst.Param)
        or (draft.bounds(found)[0] < start and _blocks(draft, found, scope) <= around)
        for found in here
    )


def _blocks(draft: Draft, name: cst.Name, scope: cst.FunctionDef | cst.Module) -> set[cst.CSTNode]:
    """The blocks, but for those of ``with``, that one is in where a binding has run."""
    found: set[cst.CSTNode] = set()
    for node in draft.ancestors(name):
        if node is scope:
            break
        if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)):
            owner = draft.parent(node)
            if owner is not scope and not isinstance(owner, cst.With):
                found.add(node)
    return found


def free_name(draft: Draft, *wishes: str) -> str:
    """The first of the wishes that means nothing in the file yet."""
    taken = taken_names(draft)
    for wish in wishes:
        if wish not in taken:
            return wish
    raise CannotFix(f"all of {', '.join(wishes)} are taken")


def taken_names(draft: Draft) -> frozenset[str]:
    """Every name that stands for a variable, a function, a class or an import in the file."""
    return frozenset(draft.once(_by_value)) | frozenset(draft.imported.values())


def rename(draft: Draft, node: cst.BaseExpression, new: str) -> None:
    """Give a name, or the last part of an attribute chain, another name."""
    if isinstance(node, cst.Attribute):
        draft.replace(node.attr, new)
    elif isinstance(node, cst.Name):
        draft.replace(node, new)
    else:
        raise CannotFix("no name to change")


def dotted(node: cst.BaseExpression | None) -> str | None:
    """``a.b.c`` as text, if the node is no more than that."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    return ".".join((node.value, *reversed(parts)))


def scope_of(draft: Draft, node: cst.CSTNode) -> cst.FunctionDef | cst.Module:
    """The function that a node runs in, else the module; the name of a function is outside it."""
    parent = draft.parent(node) if node is not draft.tree else node
    if isinstance(parent, cst.FunctionDef) and parent.name is node:
        node = parent
    return draft.around(node, cst.FunctionDef) or draft.tree


def root_of(node: cst.CSTNode) -> str | None:
    """``a`` of ``a.b[0].c``."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else None


def _is_local(draft: Draft, name: cst.Name) -> bool:
    """Is the name bound for a comprehension or a lambda alone?"""
    node: cst.CSTNode = name
    for parent in draft.ancestors(name):
        if isinstance(parent, cst.CompFor):
            return parent.target is node
        if isinstance(parent, cst.Param):
            return parent.name is node and draft.around(parent, cst.Lambda) is not None
        if not isinstance(parent, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
            return False
        node = parent
    return False


def binds(draft: Draft, name: cst.Name) -> bool:
    """Is the name a target here: of an assignment, a loop, an import, a definition?"""
    node: cst.CSTNode = name
    parent = draft.parent(node)
    while isinstance(parent, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
        node, parent = parent, draft.parent(parent)
    if isinstance(
        parent,
        (cst.AssignTarget, cst.AsName, cst.Param, cst.NameItem, cst.MatchAs, cst.MatchStar),
    ):
        return True
    if isinstance(parent, (cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr)):
        return parent.target is node
    if isinstance(parent, (cst.FunctionDef, cst.ClassDef)):
        return parent.name is node
    if isinstance(parent, cst.Del):
        return True
    while isinstance(parent, cst.Attribute) and parent.value is node:
        node, parent = parent, draft.parent(parent)
    return isinstance(parent, cst.ImportAlias) and parent.asname is None
