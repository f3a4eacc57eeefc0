"""The result of a collective that returns it and leaves its argument alone, where it is dropped."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.catalogue.catalogue import Collective
from distlint.rules.collectives._following import Buffer, Sight, following, path_of
from distlint.rules.collectives._issued import Issued

_OUT_OF_PLACE = (
    "accelerate.",
    "horovod.",
    "torch.distributed.nn.",
    "torch.distributed._functional",
)
"""Libraries whose ``all_reduce`` works on a copy."""


_NAMES = frozenset({"reduce", "allreduce", "all_reduce", "grouped_allreduce"})


def dropped(objects: Objects) -> Iterator[tuple[Issued, int]]:
    """Calls that return what they reduced, to no one, and where the argument is read afterwards."""
    for site in objects.calls(_NAMES):
        statement, scope = site.point.statement, site.point.scope
        if not isinstance(statement, ir.Evaluate) or statement.value is not site.call:
            continue
        row = _row(objects, site)
        if row is None or row.kind != "all_reduce" or row.result != "uniform":
            continue
        if row.result_param is None and row.name.startswith(_OUT_OF_PLACE):
            use = Issued(site.call, row, site.point.around, scope, objects.names)
            read = _read_later(use)
            if read is not None:
                yield use, read


def _row(objects: Objects, site: CallSite) -> Collective | None:
    dotted = objects.called(site)
    func = site.call.func
    if not dotted and isinstance(func, ir.Attribute):
        cls = objects.names.class_of(func.value, site.point.scope)
        dotted = f"{cls}.{func.attr}" if cls else ""
    entry = objects.catalogue.lookup(dotted) if dotted else None
    return entry.collective if entry is not None else None


def _read_later(use: Issued) -> int | None:
    """The statement that looks at the argument, as it was before the call."""
    path = path_of(use.argument(use.row.payload))
    if path is None or use.unclear:
        return None
    buffer = Buffer(path, use.reads)
    for step in following(use.around):
        if step.role == "store":
            if buffer.bound_by(step.node):
                return None
        elif buffer.seen_in(step.node) >= Sight.HANDED or (
            step.role == "leave" and buffer.seen_in(step.node) is Sight.SAME
        ):
            return step.statement.site
        elif step.role == "update" and buffer.seen_in(step.node) is Sight.SAME:
            return None
    return None
