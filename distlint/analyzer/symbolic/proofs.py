"""Proofs: divergences in which a rank gets stuck when they are replayed on all ranks."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.cluster import Cluster, NeedBiggerCluster
from distlint.analyzer.symbolic.context import DEEP, ExecutionContext
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.minimization import (
    NOTHING,
    Deadlock,
    Irrelevant,
    Minimizer,
    diverges,
)
from distlint.analyzer.symbolic.rank_execution import Trace
from distlint.analyzer.symbolic.replay import look_into, probe, refutes, replay
from distlint.analyzer.symbolic.starting_states import entry_of, start_of
from distlint.analyzer.symbolic.state import OverBudget, Question, State

OTHER_WAYS = 3
"""Ways to a divergence that are tried beside the first; some are none, where others were joined."""

OTHER_WAYS_JOINED = 6
"""The same where something was decided about values of several ways: few lead to that."""

OPEN_BUDGET = 6_000
"""Work that may go into one of these replays."""

PROBE_BUDGET = 24_000
"""Work that may go into the simplest ways through a script that is too much to be compared."""

FUNCTION_PROBE = 2_000
"""The same for a function without a caller."""

MINIMIZE_BUDGET = 40_000
"""Work that goes into leaving out of the proofs of a module what they do not need."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A divergence that gets stuck when it is replayed on all ranks."""

    divergence: Divergence
    traces: tuple[Trace, ...]
    cluster: Cluster
    root: ir.Function | None
    entry: ir.Block
    """What is executed: the body of a module, or the call of a function and what follows it."""
    irrelevant: Irrelevant = NOTHING
    """Decisions on the way without which the ranks would get stuck as well."""


class Prover:
    """Replays the divergences of a module, within a budget for all of them."""

    def __init__(self) -> None:
        self.proofs: list[Proof] = []
        self.replayed = 0
        """The work that has gone into replays."""
        self.explained = 0

    def prove(
        self,
        context: ExecutionContext,
        start: State,
        divergence: Divergence,
        root: ir.Function | None,
    ) -> tuple[bool, bool]:
        """Replay a divergence; keep it when a rank gets stuck on one of the ways that lead there.

        Is it proven, and if not, is it refuted?
        """
        is_refuted = True
        most = OTHER_WAYS_JOINED if divergence.is_of_joined_values else OTHER_WAYS
        for candidate in chain([divergence], islice(divergence.others(), most)):
            with context.aside():
                try:
                    traces, shown = replay(context, start, candidate)
                except OverBudget:
                    return False, False
                finally:
                    self.replayed += context.steps
            is_sure = shown is not None and _is_sure(traces, candidate)
            if is_sure and self.rests_on_empty_loops(context, start, candidate):
                continue
            if is_sure and shown is not None and diverges(context, shown, traces):
                self.explain(context, start, Deadlock(shown, traces), root)
                return True, False
            is_refuted = is_refuted and refutes(traces, candidate)
        return False, is_refuted

    def rests_on_empty_loops(
        self, context: ExecutionContext, start: State, divergence: Divergence
    ) -> bool:
        """Would a forward not communicate had the loops over batches before had iterations?"""
        if not any(event is not None and event.once for event in divergence.events):
            return False
        empty = {key: True for key, truth in divergence.assumed.items() if _is_empty(key, truth)}
        if not empty:
            return False
        other = replace(divergence, assumed={**divergence.assumed, **empty})
        with context.aside(), suppress(OverBudget):
            return replay(context, start, other)[1] is None
        return False

    def explain(
        self, context: ExecutionContext, start: State, found: Deadlock, root: ir.Function | None
    ) -> None:
        """Keep what gets stuck, without the decisions that it does not need."""
        minimizer = Minimizer(context, start, found, MINIMIZE_BUDGET - self.explained)
        found = minimizer.run()
        self.explained += minimizer.spent
        traces, entry = tuple(found.traces), entry_of(start)
        self.proofs.append(
            Proof(found.divergence, traces, context.cluster, root, entry, found.irrelevant)
        )

    def keep(
        self,
        context: ExecutionContext,
        start: State,
        traces: list[Trace],
        divergence: Divergence,
        root: ir.Function | None,
    ) -> None:
        entry = entry_of(start)
        self.proofs.append(Proof(divergence, tuple(traces), context.cluster, root, entry))

    def probe(self, context: ExecutionContext, function: ir.Function | None) -> None:
        """Look at the simplest ways at least, where there are too many to be compared."""
        budget = PROBE_BUDGET if function is None else FUNCTION_PROBE
        for default in (False, True):
            try:
                with context.aside(DEEP, budget):
                    start = start_of(context, function)
                    for traces, divergence in probe(context, start, default):
                        self.keep(context, start, traces, divergence, function)
            except (OverBudget, NeedBiggerCluster):
                continue

    def look_into(
        self,
        context: ExecutionContext,
        start: State,
        divergence: Divergence,
        root: ir.Function | None,
    ) -> bool | None:
        """Replay a divergence at a call that was too deep to be compared, which one way is not.

        None if that takes too much.
        """
        try:
            found = look_into(context, start, divergence, DEEP, OPEN_BUDGET)
        except (OverBudget, NeedBiggerCluster):
            return None
        if found is not None:
            self.keep(context, start, *found, root)
        return found is not None


def _is_empty(question: Question, outcome: bool) -> bool:
    """Does a loop over what is the same on all ranks take no iteration?"""
    return (
        isinstance(question, v.Unknown)
        and question.op == "trip"
        and question.args[1] == 0
        and not outcome
    )


def _is_sure(traces: list[Trace], divergence: Divergence) -> bool:
    """Where a number was tried, do all ranks have to come to where they get stuck?

    Members of a group are told by such numbers as well.
    """
    tried = [
        key
        for key, truth in divergence.assumed.items()
        if truth and isinstance(key, v.Unknown) and key.op == v.TRIED
    ]
    if not tried:
        return True
    events = [event for event in divergence.events if event is not None]
    if any(atom.args[0] in {"in", "not in"} for atom in tried):
        return all(event.kind == "group_creation" for event in events)
    everyone = {trace.rank for trace in traces}
    return all(event.certain and event.members == everyone for event in events)
