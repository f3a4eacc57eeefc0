"""Which calls write a file or directory, and where its path stands among their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.rules.checkpoints._answers import answer_file
from distlint.rules.checkpoints._written_text import TEXT_NAMES, Written, given_path, written_file

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue, Write

_DEPTH = 4
"""How many calls are followed from a method to the function that made the object."""
_OPENERS = frozenset({"open", "write_text", "write_bytes"})


def names_in(module: Module, catalogue: Catalogue) -> frozenset[str]:
    """The last names of the calls that may write in a module."""
    names = catalogue.writes.names
    return names if _OPENERS.isdisjoint(module.tokens) else names | TEXT_NAMES


def is_checkpoint(objects: Objects, site: CallSite) -> bool:
    """Does a call save a checkpoint?"""
    row = objects.catalogue.writes.of(objects.called(site))
    return row is not None and row.what == "checkpoint"


def written_to(guards: Guards, site: CallSite) -> Written | None:
    """The path, or the open file, that a call writes to, and where it is written so."""
    path = path_written(guards.objects, site)
    if path is not None:
        return Written(path, site.point)
    if row_of(guards.objects, site) is not None or answer_file(guards, site) is not None:
        return None  # a download is of another rule
    return written_file(guards, site)


def path_written(objects: Objects, site: CallSite) -> ir.Expr | None:
    """The path, or the open file, that a function or method is given to write to."""
    row = row_of(objects, site)
    return given_path(objects, row, site) if row is not None and not row.by else None


def row_of(objects: Objects, site: CallSite) -> Write | None:
    """What the catalogue says that a call writes, a download apart."""
    called = objects.called(site)
    row = objects.catalogue.writes.of(called)
    func = site.call.func
    if row is None and not called and isinstance(func, ir.Attribute):
        made = _class_made(objects, func.value, site.point, _DEPTH)
        row = objects.catalogue.writes.of(f"{made}.{site.name}") if made else None
        row = row or objects.catalogue.writes.of_method(site.name)
    return row if row is not None and row.what != "download" else None


def _class_made(objects: Objects, node: ir.Expr, point: Point, depth: int) -> str:
    """The class of what a framework's function returned: ``Image.open(path).convert("RGB")``."""
    for origin in objects.origins(node, point) if depth else ():
        site = origin.site
        if site is None or origin.attributes or origin.item is not None:
            continue
        called = objects.called(site)
        if not called and isinstance(site.call.func, ir.Attribute):
            owner = _class_made(objects, site.call.func.value, site.point, depth - 1)
            called = f"{owner}.{site.name}" if owner else ""
        entry = objects.catalogue.lookup(called) if called else None
        kinds = entry.returns.kinds if entry is not None and entry.returns is not None else ""
        if isinstance(kinds, str) and objects.catalogue.is_class(kinds):
            return kinds
    return ""
