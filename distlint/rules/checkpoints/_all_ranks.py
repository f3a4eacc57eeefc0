"""The calls that several ranks make and nothing keeps to one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from distlint.analyzer.guards import guards_of, is_distributed

if TYPE_CHECKING:
    from distlint.analyzer import ir
    from distlint.analyzer.guards import Guards
    from distlint.analyzer.objects import CallSite, Point
    from distlint.analyzer.project import Module
    from distlint.catalogue.catalogue import Catalogue


def on_all_ranks(
    module: Module,
    catalogue: Catalogue,
    wanted: frozenset[str],
    no_guard: Callable[[Point], ir.Stmt | None] = lambda point: None,
) -> Iterator[tuple[CallSite, Guards]]:
    """The calls of these last names that every rank comes to, as far as a file shows.

    ``no_guard`` names a statement around a place whose test does not count as a guard.
    """
    if wanted.isdisjoint(module.tokens | set(module.aliases.values())):
        return
    if not is_distributed(module):
        return
    guards = guards_of(module, catalogue)
    for site in guards.objects.calls(wanted):
        if guards.may_be_some_ranks(site.point, no_guard(site.point)):
            continue
        if guards.on_many_ranks(site.point.scope):
            yield site, guards
