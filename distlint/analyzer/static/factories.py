"""What a function makes for its callers: the objects that it returns."""

from __future__ import annotations

from distlint.analyzer import ir


def names_in_returned(function: ir.Function) -> frozenset[str]:
    """The names, those of classes among them, by which a function makes what it returns."""
    returned = [
        each.value
        for each in ir.statements_of(function.body)
        if isinstance(each, ir.Return) and each.value is not None
    ]
    found = frozenset[str]().union(*map(ir.tokens_of, returned))
    if not found:
        return found
    for target, value, _ in ir.assignments_in(function.body):
        if isinstance(target, ir.Name) and target.id in found:
            found |= ir.tokens_of(value)
    return found
