"""Whether ranks get stuck in a replay for no reason but that something is not known."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.rank_execution import (
    DecisionPoint,
    RankExecution,
    answers_of,
    decisions_of,
)
from distlint.analyzer.symbolic.state import LoopIn
from distlint.analyzer.symbolic.values import Unknown

_KNOWN = (v.Const, v.PerRank, v.WorldSizeExpr, v.Seq, v.Map)


def proves_nothing(
    context: ExecutionContext, executions: list[RankExecution], ranks: tuple[int, int]
) -> bool:
    """Do the ranks get stuck for no reason but that something is not known?"""
    return _is_hearsay(context, executions) or _unlike(executions, ranks)


def _is_hearsay(context: ExecutionContext, executions: list[RankExecution]) -> bool:
    """Does a rank decide by what it was told, and the source by what it knew before?

    Both come to the same, which only looking into the data would show.
    """
    if not context.told:
        return False
    told: dict[Unknown, set[int]] = {}
    for execution in executions:
        for _, atom, _ in answers_of(execution.trace, execution.since_last()):
            if atom.op == "trip":
                for part in atom.atoms & context.told.keys():
                    told.setdefault(part, set()).add(execution.trace.rank)
    if any(_source(context, atom, ranks) not in (None, *ranks) for atom, ranks in told.items()):
        return True
    decisions = [
        {spot: (atom, outcome) for spot, atom, outcome in decisions_of(execution.trace)}
        for execution in executions
    ]
    for rank, mine in enumerate(decisions):
        for spot, (atom, outcome) in mine.items():
            for part in atom.atoms & context.told.keys():
                source = _source(context, part, {rank})
                known = decisions[source].get(spot) if source is not None else None
                if known is not None and known[1] is not outcome and part not in known[0].atoms:
                    return True
    return False


def _source(context: ExecutionContext, told: Unknown, ranks: set[int]) -> int | None:
    """The rank that has sent what some ranks were told."""
    root, members = context.told[told]
    try:
        source = v.vector(root, context.cluster.size)[min(ranks)]
    except ValueError:
        return None
    if source not in members and type(source) is int and source < len(members):
        source = sorted(members)[source]
    return source if type(source) is int and source < context.cluster.size else None


def _unlike(executions: list[RankExecution], ranks: tuple[int, int]) -> bool:
    """Do the ranks part by two things of which nothing is known, one on each of them?

    A layer that one stage has and another has not, what a function returns for other arguments:
    nothing speaks for it that they differ.
    """
    first, second = (executions[rank] for rank in ranks)
    answers = _uniform_answers(first), _uniform_answers(second)
    if any(
        mine[1] is not other[1] and _are_peers(mine[0], other[0])
        for spot, each in answers[0].items()
        for mine, other in zip(each, answers[1].get(spot, ()), strict=False)
    ):
        return True
    loops = _own_loops(first, second), _own_loops(second, first)
    if all(loops) and any(loops[0]) is not any(loops[1]):
        return True  # over two things of unknown length
    one, other = (execution.machine.lengths for execution in (first, second))
    return _may_be_as_long(*answers, one, other) or _may_be_as_long(*answers[::-1], other, one)


def _own_loops(execution: RankExecution, other: RankExecution) -> list[bool]:
    """Has a rank entered the loops over collections that only it has come to lately?"""
    known = {spot for spot, *_ in answers_of(other.trace)}
    return [
        outcome
        for spot, atom, outcome in answers_of(execution.trace, execution.since_last())
        if atom.op == "trip" and not atom.local and spot not in known
        if getattr(atom.args[0], "op", "") != "range"
    ]


Answers = dict[DecisionPoint, list[tuple[Unknown, bool]]]
"""More than one where a function is called again."""


def _uniform_answers(execution: RankExecution) -> Answers:
    found: Answers = {}
    for spot, atom, outcome in answers_of(execution.trace):
        if not atom.local:
            found.setdefault(spot, []).append((atom, outcome))
    return found


def _may_be_as_long(
    answers: Answers, others: Answers, own: dict[LoopIn, int], known: dict[LoopIn, int]
) -> bool:
    """Is a collection of unknown length taken for shorter or longer than one that has items?

    As where one stage has the losses of the model, whatever they are, and the others stand-ins.
    """
    guessed = {
        spot: outcome
        for spot, each in answers.items()
        for atom, outcome in each
        if atom.op == "trip" and spot not in others
    }
    for (where, site, turns, turn), more in guessed.items():
        # asked at the end of the turn before
        length = known.get((where, site, turns[:-1] if turn else turns))
        if length and more is not (turn < length):
            return True
    none = any(not more and spot[-1] == 0 for spot, more in guessed.items())
    return none and any(length == 0 and known.get(place) for place, length in own.items())


def _are_peers(one: object, other: object) -> bool:
    """Are two terms the same, or is neither known where they differ?"""
    if one is other:
        return True
    if not (isinstance(one, Unknown) and isinstance(other, Unknown)):
        return not isinstance(one, _KNOWN) and not isinstance(other, _KNOWN)
    if one.op == "either" != other.op:
        one, other = other, one
    if other.op == "either" != one.op:
        return any(_are_peers(one, way) for way in other.args[1:])
    if one.op != other.op:
        return False  # one may be what has been written on its rank
    if one.op == "trip" and all(map(_is_collection, (one.args[0], other.args[0]))):
        return True
    if one.op not in v.TRANSPARENT:
        return True
    return all(map(_are_peers, one.args, other.args))


def _is_collection(value: object) -> bool:
    """Is it a collection of which nothing but its name is known?"""
    return isinstance(value, Unknown) and value.op in {"comprehension", "method", "call", "param"}
