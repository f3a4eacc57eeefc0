"""What each rank has done in a replay, by the place in the source at which it did it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.symbolic.execution_log import (
    Branched,
    Called,
    Caught,
    Executed,
    Exited,
    Failed,
    Issued,
    Jumped,
    LogEntry,
    LoopReached,
    ManagerEntered,
    Raised,
)
from distlint.analyzer.symbolic.rank_execution import Trace
from distlint.analyzer.symbolic.state import Event, Frame, Iterations

T = TypeVar("T")

Site = tuple[str, int, bool]
"""A module by its key, a site in it, and: is it about what happens when a ``with`` is left?"""

Visit = tuple[Frame, Iterations]
"""One execution of a statement: the activation, and the iterations of the loops around it."""

ByRank = list[T]
"""A value for each rank."""

UnitKey = tuple[str, ir.Function | None]


@dataclass(frozen=True, eq=False)
class Unit:
    """A function, or the body of a module (``function`` is None)."""

    module: Module
    function: ir.Function | None

    @property
    def key(self) -> UnitKey:
        return (self.module.key, self.function)


@dataclass
class Observed:
    """The logs of all ranks, sorted by site."""

    ranks: int
    visits: dict[Site, ByRank[dict[Visit, None]]] = field(default_factory=dict)
    """When each rank has executed a statement."""
    tests: dict[Site, ByRank[dict[Visit, None]]] = field(default_factory=dict)
    """When each rank has tested whether a loop goes on."""
    branches: dict[Site, ByRank[list[bool]]] = field(default_factory=dict)
    """Was the condition of the ``if`` true?"""
    heads: dict[Site, ByRank[list[bool]]] = field(default_factory=dict)
    """Was there another iteration, each time the head of the loop was reached?"""
    iterations: dict[Site, ByRank[list[int]]] = field(default_factory=dict)
    """Of each time the loop was run."""
    events: dict[Site, ByRank[dict[Visit, list[Event]]]] = field(default_factory=dict)
    calls: dict[Site, ByRank[dict[Visit, list[Unit]]]] = field(default_factory=dict)
    managers: dict[Site, dict[UnitKey, Unit]] = field(default_factory=dict)
    """Generators that manage the ``with`` at a site."""
    failures: dict[Site, ByRank[dict[Visit, None]]] = field(default_factory=dict)
    """When a rank has failed before what stands there."""
    raised: dict[Site, ByRank[dict[Visit, None]]] = field(default_factory=dict)
    """When the program has raised an exception itself."""
    exits: dict[Site, bool] = field(default_factory=dict)
    """Where a process ends: as it should?"""
    jumps: set[Site] = field(default_factory=set)
    """Where a return, break or continue was executed."""
    caught: set[Site] = field(default_factory=set)
    """Handlers that were entered."""
    order: dict[Site, int] = field(default_factory=dict)
    """When something was first done at a site, in the log of the rank that came first."""
    owners: dict[Site, UnitKey] = field(default_factory=dict)
    """The function that a site is in: a lambda stands within a statement of another one."""
    used: set[UnitKey] = field(default_factory=set)
    """The functions that lead to something that other ranks may notice."""

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> Observed:
        found = cls(len(traces))
        callers: dict[UnitKey, set[UnitKey]] = {}
        for rank, trace in enumerate(traces):
            events = iter(trace.events)
            for number, entry in enumerate(trace.log):
                if isinstance(entry, (Called, ManagerEntered)):
                    entered = entry.callee if isinstance(entry, Called) else entry.manager
                    callers.setdefault(unit_of(entered).key, set()).add(unit_of(entry.frame).key)
                event = next(events) if isinstance(entry, Issued) else None
                found.add(rank, number, entry, event)
        found.used = _reaching(callers, _of_use(traces))
        return found

    def add(self, rank: int, number: int, entry: LogEntry, event: Event | None) -> None:
        """Sort an entry of a log in, with the collective that it is about."""
        is_exit = entry.is_exit if isinstance(entry, Called) else _is_exit(event)
        site = (entry.frame.module.key, entry.site, is_exit)
        self.order[site] = min(number, self.order.get(site, number))
        self.owners[site] = unit_of(entry.frame).key
        visit = (entry.frame, getattr(entry, "turns", ()))
        if event is not None:
            _of_rank(self.events, site, self.ranks, rank).setdefault(visit, []).append(event)
        elif isinstance(entry, Called):
            calls = _of_rank(self.calls, site, self.ranks, rank).setdefault(visit, [])
            calls.append(unit_of(entry.callee))
        elif isinstance(entry, ManagerEntered):
            manager = unit_of(entry.manager)
            self.managers.setdefault(site, {})[manager.key] = manager
        elif isinstance(entry, Failed):
            _of_rank(self.failures, site, self.ranks, rank)[visit] = None
        elif isinstance(entry, Executed):
            _of_rank(self.visits, site, self.ranks, rank)[visit] = None
        elif isinstance(entry, Branched):
            self.listed(self.branches, site)[rank].append(entry.outcome)
        elif isinstance(entry, LoopReached):
            _of_rank(self.tests, site, self.ranks, rank)[visit] = None
            self.head(site, rank, entry)
        elif isinstance(entry, Raised):
            _of_rank(self.raised, site, self.ranks, rank)[visit] = None
        elif isinstance(entry, Jumped):
            self.jumps.add(site)
        elif isinstance(entry, Exited):
            self.exits[site] = entry.ok
        elif isinstance(entry, Caught):
            self.caught.add(site)

    def head(self, site: Site, rank: int, entry: LoopReached) -> None:
        self.listed(self.heads, site)[rank].append(entry.more)
        runs = self.listed(self.iterations, site)[rank]
        if entry.index == 0:
            runs.append(0)
        runs[-1] += entry.more

    def listed(self, table: dict[Site, ByRank[list[T]]], site: Site) -> ByRank[list[T]]:
        return table.setdefault(site, [[] for _ in range(self.ranks)])


def _of_rank(table: dict[Site, Any], site: Site, ranks: int, rank: int) -> Any:
    return table.setdefault(site, [{} for _ in range(ranks)])[rank]


def unit_of(frame: Frame) -> Unit:
    return Unit(frame.module, frame.function)


def _is_exit(event: Event | None) -> bool:
    """Is it issued when the block of a ``with`` is left?"""
    return event is not None and "exit" in event.result_key[1:]


def _of_use(traces: Iterable[Trace]) -> Iterator[UnitKey]:
    """The functions that do something themselves that other ranks may notice."""
    for trace in traces:
        for entry in trace.log:
            if isinstance(entry, (Issued, Exited, Raised, Failed, Caught)):
                yield unit_of(entry.frame).key


def _reaching(callers: dict[UnitKey, set[UnitKey]], ends: Iterable[UnitKey]) -> set[UnitKey]:
    """The functions that are among the ends or call one."""
    found: set[UnitKey] = set()
    left = list(ends)
    while left:
        key = left.pop()
        if key not in found:
            found.add(key)
            left += callers.get(key, ())
    return found
