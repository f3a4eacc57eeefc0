"""Whose ``load_from_checkpoint`` a call calls, and of which Lightning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.hooks import asks_for_older_lightning

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite

LIGHTNING_LOAD = "load_from_checkpoint"
_REMOVED = frozenset({"from_argparse_args", "add_argparse_args"})
"""Words of Lightning 1, which loads onto the CPU unless it is told otherwise."""


def is_replaced(guards: Guards, site: CallSite) -> bool:
    """Does the project's class have a loader of its own, which does not end in Lightning's?"""
    func = site.call.func
    names = list(_names_given(guards, func.value, site)) if isinstance(func, ir.Attribute) else []
    return bool(names) and all(
        any(
            LIGHTNING_LOAD in cls.methods
            and LIGHTNING_LOAD not in cls.methods[LIGHTNING_LOAD].tokens  # super()'s
            for cls in guards.objects.module.lineage(name)
        )
        for name in names
    )


def _names_given(guards: Guards, node: ir.Expr, site: CallSite) -> Iterator[str]:
    """What a class is called, or those that the callers pass for a parameter."""
    function = site.point.scope.function
    names = [param.name for param in function.params] if function is not None else []
    name = node.id if isinstance(node, ir.Name) else ""
    if name not in names:
        yield name
        return
    for caller in guards.callers(site.point.scope):
        given = guards.objects.argument(caller, name, names.index(name)).value
        yield given.id if isinstance(given, ir.Name) else ""


def is_for_lightning_1(module: Module) -> bool:
    """Do its words, or the requirements, say that Lightning is older than 2.0?"""
    return not _REMOVED.isdisjoint(module.tokens) or asks_for_older_lightning(module, "2.0")
