"""What a class of one file inherits from classes of other files of the project."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of


def bases_elsewhere(objects: Objects, cls: ir.Class) -> Iterator[tuple[Objects, ir.Class]]:
    """The bases of a class in other files, and theirs."""
    waiting = [(objects, cls)]
    seen = {cls}
    for where, each in waiting:  # grows meanwhile
        for own in where.classes.with_bases(each):
            for base in own.bases:
                found = imported_class(where, base)
                if found is not None and found[1] not in seen:
                    seen.add(found[1])
                    waiting.append(found)
    yield from waiting[1:]


def imported_class(objects: Objects, base: ir.Expr) -> tuple[Objects, ir.Class] | None:
    """The class of another file that an expression names."""
    name, *members = path_of(base) or ("",)
    there = objects.module.lead_to(name, *members)
    if there is None or not isinstance(there[1], ir.Class):
        return None
    return objects_in(there[0]), there[1]


def inherited(objects: Objects, node: ir.Expr, point: Point) -> Iterator[tuple[Objects, Origin]]:
    """Where an attribute of ``self`` may come from that base classes of other files assign."""
    path = path_of(node) or ()
    cls = objects.classes.of_self(point.scope) if path[:1] == ("self",) else None
    if cls is None or len(path) == 1:
        return
    for where, base in bases_elsewhere(objects, cls):
        yield from ((where, origin) for origin in where.attribute(base, path[1:]))


def calls_by_bases(objects: Objects, method: ir.Function) -> Iterator[tuple[Objects, CallSite]]:
    """The calls in base classes, of whatever file, that a method of a derived one stands in for.

    class Trainer:                  # of another file
        def run(self):
            for epoch in range(9):
                self.train_epoch()
    """
    cls = objects.classes.by_method.get(method)
    if cls is None:
        return
    own = [(objects, each) for each in objects.classes.with_bases(cls) if each is not cls]
    for where, base in (*own, *bases_elsewhere(objects, cls)):
        for caller in base.methods.values():
            scope = where.scope_of(caller) if method.name in caller.tokens else None
            for site in where.calls_in(scope, {method.name}) if scope is not None else ():
                if path_of(site.call.func) == ("self", method.name):
                    yield where, site
