"""The lock-step walk of two ranks from one common collective to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.continuations import Continuation, LoopHead, ReturnToCaller
from distlint.analyzer.symbolic.crossings import Crossing, sites_of
from distlint.analyzer.symbolic.divergence import Divergence, PathHistory
from distlint.analyzer.symbolic.machine import Machine
from distlint.analyzer.symbolic.matching import difference, next_common, resume
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    Event,
    Frame,
    Key,
    Known,
    PathPruned,
    Question,
    RankDependent,
    ResultKey,
    State,
    Stop,
)
from distlint.analyzer.symbolic.state_abstraction import APART, Identity
from distlint.analyzer.symbolic.subsumption import Explored
from distlint.analyzer.symbolic.values import Unknown, Value
from distlint.analyzer.symbolic.view import SIDE
from distlint.analyzer.symbolic.worklist import (
    Asked,
    AskedAgain,
    Position,
    ProductState,
    Worklist,
    position,
)

MOST_APART = 16
"""Variables that two ranks may differ in and still be walked as one."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What ranks in the same state come to next: ``apart`` is where they have to be told apart."""

    decided: tuple[tuple[Question, bool], ...]
    met: int | None
    state: State
    known: Known
    asked: Asked
    apart: bool = False


class ProductExploration:
    """The walk of pairs of ranks from one start.

    Ranks in the same state are walked as one, and ways on which they decided an unknown differently
    are joined again where they meet: the cost grows with the length of the program, not with the
    number of its paths.
    """

    def __init__(self, context: ExecutionContext, start: State) -> None:
        self.context = context
        self.abstraction = context.abstraction
        self.start = start
        self.all = Machine(context, None)
        self.is_complete = True
        """Has every way been walked that was come to?"""
        self.next: dict[Identity, tuple[_Step, ...]] = {}

    def divergences(self, first: int, second: int) -> Iterator[Divergence]:
        """Every way (within the bounds) in which two ranks come to different collectives.

        Raises:
            OverBudget: when there are too many states.
        """
        machines = (Machine(self.context, first, "A"), Machine(self.context, second, "B"))
        worklist = Worklist(self.context)
        worklist.add(ProductState((self.start,), {}, frozenset(), PathHistory()))
        seen: set[Identity] = set()
        explored = Explored()
        while (item := worklist.pop()) is not None:
            self.is_complete = self.is_complete and worklist.is_complete
            identity = self.abstraction.identity(item.states, item.lives, item.known)
            if identity in seen:
                continue
            seen.add(identity)
            if explored.covers(item):
                continue
            if len(item.states) == 2:
                yield from self.advance_pair(machines, item, worklist)
                continue
            for step in self.following(item, identity):
                past = item.past.assume(step.decided)
                if step.met is not None:
                    past = past.meet(step.met)
                states = (step.state, step.state) if step.apart else (step.state,)
                worklist.add(ProductState(states, step.known, step.asked, past))
        self.is_complete = self.is_complete and worklist.is_complete

    # ---- ranks that do the same

    def following(self, item: ProductState, identity: Identity) -> tuple[_Step, ...]:
        """What follows for ranks in one state; found once for all pairs of ranks."""
        steps = self.next.get(identity)
        if steps is None:
            steps = self.next[identity] = tuple(self.steps(item))
        return steps

    def goes_on(self, item: ProductState) -> bool:
        """Do ranks in one state get further without being told apart at once?"""
        item.keep_what_matters(self.abstraction)
        identity = self.abstraction.identity(item.states, item.lives, item.known)
        return not any(step.apart for step in self.following(item, identity))

    def steps(self, item: ProductState) -> Iterator[_Step]:
        """What follows for ranks in one state, up to the next question or collective."""
        machine = self.all
        (start,) = item.states
        machine.load(start)
        machine.rejoin = _innermost_call(start)
        machine.known = dict(item.known)
        machine.assumptions = []
        is_apart, met = False, None
        try:
            event = machine.advance()
        except BranchUndecided as need:
            state = machine.save()
            question = AskedAgain(need.key, state.k, tuple(need.within))
            asked = _still_asked(item.asked, (state,)) | {question}
            for outcome in (True, False):
                decided = (*machine.assumptions, (need.key, outcome))
                known = {**machine.known, need.key: outcome}
                yield _Step(decided, None, state, known, asked)
            return
        except RankDependent:
            state, is_apart = machine.save(), True
        except PathPruned:
            return
        else:
            state = machine.save()
            if isinstance(event, Event):
                state = state.copy()
                try:
                    if _is_each_ranks_own(event):
                        raise RankDependent
                    resume(machine, event, machine.place(event))
                    state, met = machine.save(), event.site
                except RankDependent:
                    is_apart = True
            elif event is not Stop.JOIN:
                return
        asked = _still_asked(item.asked, (state,))
        yield _Step(tuple(machine.assumptions), met, state, machine.known, asked, is_apart)

    # ---- ranks that differ

    def advance_pair(
        self, machines: tuple[Machine, Machine], item: ProductState, worklist: Worklist
    ) -> Iterator[Divergence]:
        known = dict(item.known)
        level = _level(item.states)
        found: list[Event | Stop | None] = []
        needs: list[tuple[Position, AskedAgain]] = []
        for machine, state, other in zip(machines, item.states, reversed(machines), strict=True):
            machine.load(state)
            machine.known, machine.assumptions = known, []
            machine.level = level
            try:
                found.append(next_common(machine, other.rank))
            except BranchUndecided as need:
                question = AskedAgain(need.key, machine.k, tuple(need.within))
                needs.append((position(machine.save()), question))
                found.append(None)
            except PathPruned:
                return
            if found[-1] is Stop.ABORT:
                return
        past = item.past.assume(pair for machine in machines for pair in machine.assumptions)
        states = (machines[0].save(), machines[1].save())
        asked = _still_asked(item.asked, states)
        if needs:
            question = min(needs, key=lambda need: need[0])[1]
            key = question.question
            is_same = len(needs) == 2 and needs[0][1] == needs[1][1]
            if is_same and not isinstance(key, tuple):
                one = self.as_one(states, known, past)
                together = ProductState((one,), known, asked, past) if one else None
                if together is not None and self.goes_on(together):
                    worklist.add(together)
                    return
            answers = _answers(key, known, machines)
            if is_same and _is_turn_of_no_use(key, machines):
                answers = (False,)
            for outcome in answers:
                now = past.assume([(key, outcome)])
                known_now = {**known, key: outcome}
                worklist.add(ProductState(states, known_now, asked | {question}, now))
            return
        first, second = found
        assert first is not None
        assert second is not None
        if first is second is Stop.END:
            return
        ranks = (machines[0].rank, machines[1].rank)
        differs = difference(self.context, (first, second), ranks)
        if differs is not None:
            events = (_event(first), _event(second))
            yield from islice(Divergence.on_ways(past, ranks, events, differs), 1)
            return
        assert isinstance(first, Event)
        assert isinstance(second, Event)
        place, other_place = machines[0].place(first), machines[1].place(second)
        if other_place != place and self.context.crossings is not None:
            sites = (sites_of(first, machines[0].k), sites_of(second, machines[1].k))
            crossing = Crossing((first.op, second.op), sites, (place, other_place), past)
            self.context.crossings.append(crossing)
        resume(machines[0], first, place)
        resume(machines[1], second, place)
        renamed = None if other_place == place else (other_place, place)
        past = past.meet(first.site, renamed)
        states = (machines[0].save(), machines[1].save())
        asked = _still_asked(asked, states)
        item = ProductState(states, known, asked, past)
        one = self.as_one(states, known, past)
        if one is not None:
            together = ProductState((one,), known, asked, past)
            if one is states[0] or self.goes_on(together):
                item = together
        worklist.add(item)

    def as_one(self, states: tuple[State, State], known: Known, past: PathHistory) -> State | None:
        """The state of two ranks, with what they differ in as a value of either; None if there
        is none.

        What one rank has decided by itself is not joined: a replay has to know which rank it was.
        """
        if self.alike(states, known):
            return states[0]
        return None if past.is_own else self.of_both(*states)

    def of_both(self, first: State, second: State) -> State | None:
        """A state that is the one on the first rank, and the other on the second."""
        if first.k is not second.k or first.it != second.it:
            return None
        if tuple(first.results) != tuple(second.results):
            return None
        mine, other = dict(self.abstraction.live(first)), dict(self.abstraction.live(second))
        keys = dict.fromkeys((*first.store, *second.store))  # in one order, whatever the hashes
        differ = [key for key in keys if mine.get(key) is not other.get(key)]
        if len(differ) > MOST_APART or any(key[0] in APART for key in differ):
            return None
        store = dict(first.store)
        for key in differ:
            value = _of_side(key, mine.get(key), other.get(key))
            if value is None:
                return None
            store[key] = value
        results = dict(first.results)
        for place, result in second.results.items():
            value = _of_side(place, results[place], result)
            if value is None:
                return None
            results[place] = value
        return State(first.k, first.frame, first.it, results, store)

    def alike(self, states: tuple[State, State], known: Known) -> bool:
        """Are two ranks in the same state, as far as it can matter?"""
        first, second = states
        if first.k is not second.k or first.it != second.it or first.results != second.results:
            return False
        mine, other = self.abstraction.live(first), self.abstraction.live(second)
        if mine == other:
            return True
        reduced = [{key: _reduced(value, known) for key, value in live} for live in (mine, other)]
        return reduced[0] == reduced[1]


def _of_side(key: tuple[Any, ...], one: Value | None, two: Value | None) -> Value | None:
    """One value on the first rank and another on the second; None for what each has counted."""
    unset = v.unknown(v.UNSET, str(key[1]))
    one, two = one or unset, two or unset
    if one is two:
        return one
    if v.is_count(one) and v.is_count(two):
        return None
    value = v.phi(v.unknown(SIDE, local=True), one, two)
    return value if isinstance(value, v.Phi) else None


def _level(states: tuple[State, ...]) -> tuple[dict[Key, Value], dict[Key, Value]] | None:
    """The variables of two ranks, if they are at the same place."""
    first, second = states
    is_level = first.k is second.k and first.it == second.it
    return (first.store, second.store) if is_level else None


def _still_asked(asked: Asked, states: tuple[State, ...]) -> Asked:
    """What the statements at hand, and those that wait for them to return, ask again."""
    if not asked:
        return asked
    done: dict[Continuation | None, set[ResultKey]] = {}
    for state in states:
        for statement, results in _in_hand(state):
            done[statement] = done.get(statement, results) & results
    return frozenset(
        each
        for each in asked
        if each.statement in done and done[each.statement].isdisjoint(each.within)
    )


def _in_hand(state: State) -> Iterator[tuple[Continuation | None, set[ResultKey]]]:
    """Statements that have begun, each with the calls in it that will not be evaluated again."""
    k = state.k
    yield k, set(state.results)
    while k is not None:
        if isinstance(k, ReturnToCaller):
            yield k.next, {k.key, *(each for each, _ in k.results)}
        k = k.next


def _innermost_call(state: State) -> Continuation | None:
    """Where the function returns in which a state is."""
    k = state.k
    while k is not None and not isinstance(k, ReturnToCaller):
        k = k.next
    return k


def _reduced(value: Value, known: Known) -> Value:
    """A value with what is known put in."""
    while isinstance(value, v.Phi) and value.test in known:
        value = value.then if known[value.test] else value.orelse
    return value


def _answers(key: Question, known: Known, machines: tuple[Machine, Machine]) -> tuple[bool, ...]:
    """The answers that a question may have, given what the other rank has answered."""
    if not isinstance(key, tuple):
        return (True, False)
    side, question = key
    one, other = machines if machines[0].side == side else reversed(machines)
    given = strides.settled(question, one.rank, [(other.rank, known.get((other.side, question)))])
    return (True, False) if given is None else (given,)


def _is_turn_of_no_use(key: Question, machines: tuple[Machine, Machine]) -> bool:
    """Are both ranks before a turn of one loop that can do nothing new, and the same on both?"""
    if not isinstance(key, Unknown) or key.op != "trip" or not key.args[1]:
        return False
    new = []
    for machine in machines:
        k = machine.k
        if not isinstance(k, LoopHead):
            return False
        new.append(machine.repeated(k.statement, k.outer))
    return new[0] is not None and new[0] == new[1]


def _is_each_ranks_own(event: Event) -> bool:
    """Do ranks pass an argument that has to agree, each its own?"""
    values = [value for _, value in event.agree]
    if event.root is not None:
        values.append(event.root)
    if any(map(v.is_ranked, values)):
        return True
    return any(map(_is_of_side, [*values, event.payload_value]))


def _is_of_side(value: Value | None) -> bool:
    """Does a value hold what two ranks differ in, where they go on as one?"""
    seen: set[object] = set()
    stack: list[object] = [value]
    while stack:
        part = stack.pop()
        if part in seen or not isinstance(part, (v.Phi, v.Seq, Unknown)) or not part.local:
            continue
        if isinstance(part, Unknown) and part.op == SIDE:
            return True
        seen.add(part)
        if isinstance(part, v.Phi):
            stack += (part.test, part.then, part.orelse)
        else:
            stack += part.items if isinstance(part, v.Seq) else part.args
    return False


def _event(found: Event | Stop) -> Event | None:
    return found if isinstance(found, Event) else None


def root_state(
    context: ExecutionContext, frame: Frame, body: ir.Block, store: dict[Key, Value]
) -> State:
    """The state at the beginning of a root."""
    return Machine(context, 0, "A").start(frame, body, store)
