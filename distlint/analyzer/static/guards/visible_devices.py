"""Whether each process sees one GPU alone, which is ``cuda:0`` to it."""

from __future__ import annotations

from distlint.analyzer.static.environment import environment_writes
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.guards.rank_arithmetic import is_made_from_rank
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_STARTS_CUDA = frozenset({"cuda", "set_device", "current_device"})
"""Calls by which a process takes note of the GPUs; what is set later changes nothing."""


def sees_one_gpu(guards: Guards, site: CallSite) -> bool:
    """Do the files that lead to a call give each process a GPU of its own, before it uses one?"""
    files = dict.fromkeys(each for each, _ in guards.led_from(site.point.scope, site))
    return any(
        written.name == _VISIBLE
        and not _is_too_late(each, written.point)
        and is_made_from_rank(each, written.value, written.point)
        for each in files
        for written in environment_writes(each.objects)
    )


def _is_too_late(guards: Guards, point: Point) -> bool:
    """Has a statement of the same function used CUDA before?"""
    return any(
        site.point.statement.site < point.statement.site
        for site in guards.objects.calls_in(point.scope, _STARTS_CUDA)
    )
