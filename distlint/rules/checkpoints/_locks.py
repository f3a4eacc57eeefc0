"""Locks that let one process at a time do something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards

_FILE_LOCKS = frozenset(
    {
        "FileLock", "SoftFileLock", "UnixFileLock", "WindowsFileLock", "InterProcessLock",
        "LockFile", "MkdirLockFile", "SoftLockFile",
    }
)  # fmt: skip
"""Locks that lie in a file: those of threads keep no other process away."""


def is_locked(guards: Guards, point: Point) -> bool:
    """Is a lock held at a place, which lies in a file that other processes see?"""
    return any(
        isinstance(here.owner, ir.With)
        and any(
            isinstance(origin.node, ir.Call) and _locks(guards, CallSite(origin.node, origin.point))
            for origin in guards.objects.origins(
                here.owner.context, Point(point.scope, point.around[:depth])
            )
        )
        for depth, here in enumerate(point.around)
    )


def _locks(guards: Guards, site: CallSite) -> bool:
    """Does a call make such a lock, or does the function of the project that it calls?"""
    if site.name in _FILE_LOCKS:
        return True
    called = function_called(guards.objects, site)
    return called is not None and not _FILE_LOCKS.isdisjoint(called[1].tokens)
