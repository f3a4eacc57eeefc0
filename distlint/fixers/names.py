"""What statements read and bind by name, names that are free, and renaming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from distlint.fixers.draft import Doubt, Draft


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all that it is made of."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(found.children)


def used(draft: Draft, node: cst.CSTNode) -> Iterator[cst.Name]:
    """The names in a node that stand for variables: no attributes, no names of keywords."""
    for found in inside(node):
        if not isinstance(found, cst.Name):
            continue
        parent = draft.parent(found)
        if isinstance(parent, cst.Attribute) and parent.attr is found:
            continue
        if isinstance(parent, cst.Arg) and parent.keyword is found:
            continue
        yield found


def read(draft: Draft, node: cst.CSTNode) -> frozenset[str]:
    """The names that a node mentions without binding them right there."""
    return frozenset(name.value for name in used(draft, node) if not binds(draft, name))


def bound(draft: Draft, *nodes: cst.CSTNode) -> frozenset[str]:
    """The names that statements bind in their scope, however deep in blocks."""
    return frozenset(
        name.value for node in nodes for name in used(draft, node) if binds(draft, name)
    )


def changed(draft: Draft, *nodes: cst.CSTNode) -> frozenset[str]:
    """The names whose values statements may change: bound ones, and roots of stores into them."""
    found = set(bound(draft, *nodes))
    for node in nodes:
        for target in inside(node):
            if isinstance(target, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)):
                root = _root(target.target)
                if root:
                    found.add(root)
    return frozenset(found)


def free_name(draft: Draft, *wishes: str) -> str:
    """The first of the wishes that means nothing in the file yet."""
    taken = taken_names(draft)
    for wish in wishes:
        if wish not in taken:
            return wish
    raise Doubt(f"all of {', '.join(wishes)} are taken")


def taken_names(draft: Draft) -> frozenset[str]:
    """Every name that stands for a variable, a function, a class or an import in the file."""
    return frozenset(name.value for name in used(draft, draft.tree)) | frozenset(
        draft.imported.values()
    )


def rename(draft: Draft, node: cst.BaseExpression, new: str) -> None:
    """Give a name, or the last part of an attribute chain, another name."""
    if isinstance(node, cst.Attribute):
        draft.replace(node.attr, new)
    elif isinstance(node, cst.Name):
        draft.replace(node, new)
    else:
        raise Doubt("no name to change")


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
    """The function that a node runs in, else the module."""
    return draft.around(node, cst.FunctionDef) or draft.tree


def parameters(function: cst.FunctionDef) -> Iterable[str]:
    params = function.params
    stars = [star for star in (params.star_arg, params.star_kwarg) if isinstance(star, cst.Param)]
    for param in (*params.posonly_params, *params.params, *params.kwonly_params, *stars):
        yield param.name.value


def _root(node: cst.CSTNode) -> str | None:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else None


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
    if isinstance(parent, cst.ImportAlias):
        return parent.asname is None
    return False
