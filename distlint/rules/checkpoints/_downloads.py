"""Calls of functions that download, as the catalogue says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.catalogue.entries import Write, position

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite

_FILE = re.compile(r"^[./~]|\.(?:pt|pth|bin|ckpt|safetensors)$")
"""A name that is the path of a file."""


def download_of(objects: Objects, site: CallSite) -> Write | None:
    """What the catalogue says about a call that downloads, None if it is none."""
    row = objects.catalogue.writes.of(objects.called(site))
    if row is None or row.what != "download" or _is_local(objects, row, site):
        return None
    return row if not row.path or place_of(objects, row, site) is not None else None


def place_of(objects: Objects, row: Write, site: CallSite) -> ir.Expr | None:
    """The path that a call downloads to; None if it is that of all such calls."""
    if not row.path:
        return None
    return objects.argument(site, row.path, position(row.params, row.path)).value


def _is_local(objects: Objects, row: Write, site: CallSite) -> bool:
    """Is what a call loads on the disk?"""
    for each in row.not_with:
        passed = objects.argument(site, each.param)
        if passed.value is not None and objects.constant(passed, site.point) == each.value:
            return True
    if not row.names:
        return False
    passed = objects.argument(site, row.names, position(row.params, row.names))
    name = objects.constant(passed, site.point)
    return not isinstance(name, str) or _FILE.search(name) is not None


def is_fetched_by_one(guards: Guards, site: CallSite) -> bool:
    """Does one rank call the function with the same argument, so that the others find the files?"""
    names, files = guards.objects.catalogue.writes.names_of_downloads, files_of(guards, site)
    return any(
        other.call is not site.call
        and files_of(guards, other) == files
        and guards.may_be_some_ranks(other.point, None, other.call)
        for other in guards.objects.calls(names)
    )


def files_of(guards: Guards, site: CallSite) -> tuple[str, frozenset[str]]:
    """The module of the function, and the words of what it fetches: its first argument."""
    module = guards.objects.called(site).rpartition(".")[0]
    return module, ir.tokens_of(site.call.args[0].value) if site.call.args else frozenset()
