"""Classes of data: what makes out how many items a data set or a sampler gives."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir

_WRAPPERS = frozenset({"iter", "enumerate", "list", "tqdm"})


def parted_by_rank(cls: ir.Class) -> bool:
    """Does a class speak of ranks, so that its objects may have a part of the data?"""
    return any("rank" in token for method in cls.methods.values() for token in method.tokens)


def counted_attributes(method: ir.Function) -> frozenset[str]:
    """The attributes that ``__len__`` takes the length of, or that ``__iter__`` goes through."""
    nodes = list(ir.own_nodes(method.body))
    if any(isinstance(node, ir.While) or _limits(node) for node in nodes):
        return frozenset()
    if method.name == "__len__":
        measured = (
            node.args[0].value
            for node in nodes
            if isinstance(node, ir.Call) and node.args and ir.last_name(node.func) == "len"
        )
        return frozenset(_of_self(measured))
    return frozenset(_of_self(map(_unwrapped, _gone_through(nodes))))


def _gone_through(nodes: list[object]) -> Iterator[ir.Expr]:
    for node in nodes:
        if isinstance(node, ir.For):
            yield node.iterable
        elif isinstance(node, ir.Yield) and node.delegated and node.value is not None:
            yield node.value
        elif isinstance(node, ir.Return) and isinstance(node.value, ir.Call):
            if ir.last_name(node.value.func) in _WRAPPERS:
                yield node.value


def _unwrapped(node: ir.Expr) -> ir.Expr:
    while isinstance(node, ir.Call) and ir.last_name(node.func) in _WRAPPERS and node.args:
        node = node.args[0].value
    return node


def _of_self(nodes: Iterator[ir.Expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name):
            if node.value.id == "self":
                yield node.attr


def _limits(node: object) -> bool:
    """Is it a function that gives another number of items?"""
    return isinstance(node, ir.Call) and ir.last_name(node.func) in _LIMITS


_LIMITS = frozenset({"min", "islice", "cycle", "repeat", "zip"})
