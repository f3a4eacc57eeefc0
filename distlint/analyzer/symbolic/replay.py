"""Running a witness on every rank of the cluster: only what deadlocks there is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.joined_values import as_less, is_joined
from distlint.analyzer.symbolic.matching import difference
from distlint.analyzer.symbolic.rank_execution import (
    MAX_EVENTS,
    DecisionOracle,
    RankExecution,
    Trace,
    answers_of,
    resembles,
)
from distlint.analyzer.symbolic.rendezvous import stuck
from distlint.analyzer.symbolic.speculation import proves_nothing
from distlint.analyzer.symbolic.state import Event, Known, State, Stop
from distlint.analyzer.symbolic.view import SIDES


def replay(
    context: ExecutionContext, start: State, divergence: Divergence
) -> tuple[list[Trace], Divergence | None]:
    """The traces of all ranks under the assumptions of a divergence, and that where they get stuck.

    The ranks beside the two side with the second or with the first of them; what none has
    assumed is false, or true. The traces end where the ranks get stuck or part. None instead of
    the divergence if no rank gets stuck.
    """
    executions, heads = _replayed(context, start, divergence)
    if heads is None:
        return [execution.trace for execution in executions], None
    shown = _as_replayed(context, executions, heads, divergence)
    for rank in divergence.ranks:
        executions[rank].run_to(shown.serial)
    return [execution.trace for execution in executions], shown


def _as_replayed(
    context: ExecutionContext,
    executions: list[RankExecution],
    heads: list[Event | None],
    divergence: Divergence,
) -> Divergence:
    """The divergence with the collectives of the replay, which may have come to others."""
    events = (heads[rank] for rank in divergence.ranks)
    pairs = zip(events, divergence.events, strict=True)
    if all(_site(new) == _site(old) for new, old in pairs):
        return divergence
    found = _divergence_of(context, executions, heads, divergence)
    return divergence if found is None else found[1]


def _site(event: Event | None) -> tuple[str, int] | None:
    return None if event is None else (event.module, event.site)


def refutes(traces: Sequence[Trace], divergence: Divergence) -> bool:
    """Does a replay in which no rank gets stuck rule a divergence out?

    Not if it was cut off, nor if what the two ranks are to decide differently was a value of joined
    ways, and none of the questions that it stands for was asked.
    """
    for rank, side in zip(divergence.ranks, SIDES, strict=True):
        if traces[rank].is_cut:
            return False
        for key, outcome in divergence.assumed.items():
            if not isinstance(key, tuple) or key[0] != side or not is_joined(key[1]):
                continue
            asked = [(*as_less(atom), answer) for _, atom, answer in answers_of(traces[rank])]
            if not any(
                resembles(key[1], atom) and (answer is outcome) is is_positive
                for atom, is_positive, answer in asked
            ):
                return False
    return True


def look_into(
    context: ExecutionContext, start: State, divergence: Divergence, depth: int, budget: int
) -> tuple[list[Trace], Divergence] | None:
    """What a divergence at a call that was not followed comes to when calls are, down to a depth.

    None when no rank gets stuck, or not the two ranks by each other.

    Raises:
        OverBudget: when it takes too many steps.
    """
    with context.aside():
        executions, _ = _replayed(context, start, divergence)
    with context.aside(depth, budget):
        guide = DecisionOracle.of(execution.trace for execution in executions)
        executions, heads = _replayed(context, start, divergence, guide)
    return _divergence_of(context, executions, heads, divergence)


def rerun(
    context: ExecutionContext, start: State, guide: DecisionOracle
) -> tuple[tuple[Trace, ...], list[Event]]:
    """All ranks of a program under decisions that are given, and where ranks get stuck if so.

    What is not given is false, and loops have one turn.

    Raises:
        OverBudget: when it takes too many steps.
    """
    nothing = Divergence((0, 1), (None, None), {}, 0)
    executions = _executions(context, start, nothing, "B", False, guide)
    heads = stuck(executions) or ()
    traces = tuple(execution.trace for execution in executions)
    return traces, [event for event in heads if event is not None]


def probe(
    context: ExecutionContext, start: State, default: bool
) -> Iterator[tuple[list[Trace], Divergence]]:
    """Partings on the simplest way through a program that is too much to be compared.

    What is not known is false all along, or true all along, and loops have one turn. Then one rank
    decides differently what is its own to decide: one question at a time.

    Raises:
        OverBudget: when it takes too many steps.
    """
    guide = DecisionOracle({})
    assumed: list[Known] = [{}]
    for number, assumption in enumerate(assumed):
        divergence = Divergence((0, 1), (None, None), assumption, 0)
        executions = _executions(context, start, divergence, "B", default, guide)
        heads = stuck(executions)
        ranks = _at_odds(context, heads) if heads is not None else None
        if number == 0:
            assumed += _own_questions(executions[0].trace)
        if heads is None or ranks is None or proves_nothing(context, executions, ranks):
            continue
        if ranks != divergence.ranks:
            divergence = replace(divergence, ranks=ranks)
            executions = _executions(context, start, divergence, "B", default, guide)
            heads = stuck(executions)
        found = _divergence_of(context, executions, heads, divergence)
        if found is not None:
            yield found


def _own_questions(trace: Trace) -> list[Known]:
    """Each question that a rank has answered for itself, with the other answer."""
    found: dict[tuple[object, ...], Known] = {}
    for spot, atom, outcome in answers_of(trace):
        if atom.local:
            question = (atom.op == "exception", *spot[:2])
            found.setdefault(question, {("A", atom): not outcome})
    return [found[each] for each in sorted(found, key=lambda each: bool(each[0]))]


def _at_odds(context: ExecutionContext, heads: list[Event | None]) -> tuple[int, int] | None:
    """Two ranks that have come to different ends, or to different collectives."""
    for first, second in combinations(range(len(heads)), 2):
        one, two = heads[first], heads[second]
        if (one, two) != (None, None) and _meet_each_other(one, two, (first, second)):
            if difference(context, (one or Stop.END, two or Stop.END), (first, second)) is not None:
                return first, second
    return None


def _meet_each_other(one: Event | None, two: Event | None, ranks: tuple[int, int]) -> bool:
    """Does each of two collectives need the other rank as well?"""
    return (one is None or ranks[1] in one.members) and (two is None or ranks[0] in two.members)


def _divergence_of(
    context: ExecutionContext,
    executions: list[RankExecution],
    heads: list[Event | None] | None,
    divergence: Divergence,
) -> tuple[list[Trace], Divergence] | None:
    """The divergence of two ranks as a replay shows it; None if they do not block each other."""
    if heads is None:
        return None
    first, second = divergence.ranks
    pair = (executions[first], executions[second])
    events = (heads[first], heads[second])
    met = [each.common - (event is not None) for each, event in zip(pair, events, strict=True)]
    if events == (None, None) or met[0] != met[1]:
        return None
    if not _meet_each_other(*events, divergence.ranks):
        return None
    differs = difference(context, (events[0] or Stop.END, events[1] or Stop.END), divergence.ranks)
    if differs is None:
        return None
    traces = [execution.trace for execution in executions]
    return traces, replace(divergence, events=events, differs=differs, serial=met[0])


def _executions(
    context: ExecutionContext,
    start: State,
    divergence: Divergence,
    others: str,
    default: bool,
    guide: DecisionOracle | None,
) -> list[RankExecution]:
    once, agreed = guide is not None, Known()
    return [
        RankExecution(context, start, rank, divergence, others, default, agreed, once, guide)
        for rank in range(context.cluster.size)
    ]


def _replayed(
    context: ExecutionContext,
    start: State,
    divergence: Divergence,
    guide: DecisionOracle | None = None,
) -> tuple[list[RankExecution], list[Event | None] | None]:
    """All ranks under the assumptions of a divergence, and where they get stuck if they do."""
    executions: list[RankExecution] = []
    for others, default in _variants(divergence):
        if default and not any(execution.trace.asked for execution in executions):
            continue  # no rank has asked for the default
        executions = _executions(context, start, divergence, others, default, guide)
        heads = stuck(executions)
        if heads is None or all(heads[rank] is None for rank in divergence.ranks):
            continue  # no rank waits, or none of the two ranks that were found to part
        if not proves_nothing(context, executions, divergence.ranks):
            return executions, heads
    return executions, None


def _variants(divergence: Divergence) -> tuple[tuple[str, bool], ...]:
    """What the other ranks may do: the sides differ in rank-local assumptions only."""
    if any(isinstance(key, tuple) for key in divergence.assumed):
        return ("B", False), ("B", True), ("A", False), ("A", True)
    return ("B", False), ("B", True)


def run(
    context: ExecutionContext,
    start: State,
    rank: int,
    divergence: Divergence,
    others: str,
    default: bool,
    once: bool = False,
) -> Trace:
    """One rank alone to its end; ``once`` runs each loop once."""
    execution = RankExecution(context, start, rank, divergence, others, default, {}, once)
    execution.run_to(MAX_EVENTS)
    return execution.trace
