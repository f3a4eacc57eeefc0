"""Files that all ranks open to write, which empties them, while only some ranks write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer.static.guards.paths import is_own
from distlint.analyzer.static.guards.rank_tests import is_left_to_some, rank_words
from distlint.rules.checkpoints._all_ranks import on_all_ranks
from distlint.rules.checkpoints._written_text import TEXT_NAMES, mode_of

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue


def emptied_by_all(module: Module, catalogue: Catalogue) -> Iterator[CallSite]:
    """The calls that open such a file."""
    if not rank_words(module.tokens):
        return  # there is no such test
    for site, guards in on_all_ranks(module, catalogue, frozenset({"open"}), fits=_is_for_some):
        path = guards.objects.argument(site, "file", 0).value
        if path is not None and not is_own(guards, path, site.point):
            yield site


def _is_for_some(guards: Guards, site: CallSite) -> bool:
    """Is a file opened to write, by all that a test of the rank leaves to some ranks alone?"""
    if "w" not in mode_of(guards, site):
        return False
    uses = guards.objects.uses
    writes = [
        *uses.methods_on(site.call, TEXT_NAMES),
        *(each for each, _ in uses.passed_to(site.call)),
    ]
    return bool(writes) and all(is_left_to_some(each.point) for each in writes)
