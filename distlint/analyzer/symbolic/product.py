"""The lock-step walk of two ranks from one common collective to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from typing import Any, TypeVar

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.continuations import (
    Continuation,
    LoopHead,
    RestOfBlock,
    ReturnToCaller,
)
from distlint.analyzer.symbolic.machine import Machine
from distlint.analyzer.symbolic.state import (
    OPAQUE,
    BranchUndecided,
    CallRequested,
    CollectiveReached,
    Event,
    Frame,
    Iterations,
    Key,
    Known,
    PathPruned,
    Place,
    Question,
    RankDependent,
    ResultKey,
    State,
    Stop,
)
from distlint.analyzer.symbolic.state_abstraction import FACTS, Identity, Live
from distlint.analyzer.symbolic.values import LOST, Unknown, Value, unknown
from distlint.analyzer.symbolic.view import SIDES

Asked = frozenset[tuple[Question, Continuation | None]]
"""What a statement in hand has asked, and asks again when the functions that it calls return."""

Places = tuple[tuple[Continuation | None, Iterations, tuple[ResultKey, ...]], ...]
"""What each rank has still to do, in which iterations, and the calls that have returned."""

Meeting = tuple[Places, frozenset[tuple[Question, bool]]]
"""Where states can be joined: at the same places, with the same answers at hand."""

Slot = TypeVar("Slot", bound=tuple[Any, ...])

Position = tuple[float, ...]
_LAST = float("inf")

CROWD = 2
"""States that may wait at one place before they are joined at a loss."""

CROWD_APART = 8
"""The same where the two ranks of a state are at different statements."""

MANY_TRIES = 100
"""Choices that are taken back in search of a way that agrees with itself."""

JOIN_SIZE = 400
"""What joining two states costs, in variables that are handled."""

WAY = "way"
"""Operator of the atoms that say on which of two ways a state was reached."""

MOST = 24
"""States of which no more wait at one place, if they cannot be joined."""


@dataclass(frozen=True, slots=True)
class PathHistory:
    """How a pair of ranks got to where it is: what was decided and met, linked to what was before.

    Where two ways have been joined, ``split`` is the unknown that they had decided differently.
    """

    before: PathHistory | None = None
    decided: tuple[tuple[Question, bool], ...] = ()
    met: int | None = None
    """Site of a common collective."""
    renamed: tuple[Place, Place] | None = None
    """A collective that the second rank has met elsewhere than the first."""
    split: Question | None = None
    otherwise: PathHistory | None = None
    """The way on which ``split`` is false."""
    length: int = 0
    """How many decisions it takes, at least."""

    def assume(self, decided: Iterable[tuple[Question, bool]]) -> PathHistory:
        decided = tuple(decided)
        return PathHistory(self, decided, length=self.length + len(decided)) if decided else self

    def meet(self, site: int, renamed: tuple[Place, Place] | None = None) -> PathHistory:
        return PathHistory(self, met=site, renamed=renamed, length=self.length)

    def join(self, split: Question, otherwise: PathHistory) -> PathHistory:
        """This way where an unknown is true, and another one where it is false."""
        length = min(self.length, otherwise.length)
        return PathHistory(self, split=split, otherwise=otherwise, length=length)

    def ways(self) -> Iterator[tuple[list[PathHistory], Known]]:
        """Ways back to the start that agree with themselves, and what is decided on them.

        Where ways have been joined at a loss, a choice may contradict what came later.
        """
        steps: list[PathHistory] = []
        found: Known = {}
        choices: list[tuple[PathHistory, int, Known]] = []
        tries = MANY_TRIES
        step: PathHistory | None = self
        while step is not None:
            agrees = all(found.get(key, outcome) is outcome for key, outcome in step.decided)
            goes_on = agrees or not (choices and tries)
            if goes_on:
                steps.append(step)
                for key, outcome in reversed(step.decided):
                    found.setdefault(key, outcome)
                step = step.back(found, len(steps), choices)
                if step is None:
                    yield steps, found
            if (step is None or not goes_on) and choices and tries:
                tries -= 1
                step, length, known = choices.pop()
                steps, found = steps[:length], dict(known)

    def back(
        self, found: Known, length: int, choices: list[tuple[PathHistory, int, Known]]
    ) -> PathHistory | None:
        """What was before; where two ways were joined and either will do, the other is noted."""
        if self.before is None or self.otherwise is None or self.split is None:
            return self.before
        outcome = found.get(self.split)
        if outcome is None:
            outcome = self.before.length < self.otherwise.length
            choices.append((self.otherwise if outcome else self.before, length, dict(found)))
        return self.before if outcome else self.otherwise


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two ranks that do different things next: ``differs`` names an argument, or is empty."""

    ranks: tuple[int, int]
    events: tuple[Event | None, Event | None]
    assumed: Known
    serial: int
    differs: str = ""
    common: int = -1
    """Site of the last common collective."""
    names: dict[Place, Place] = field(default_factory=dict)
    """Collectives that the second rank has met elsewhere than the first, by the second's place."""
    past: PathHistory = field(default_factory=PathHistory)
    forced: dict[tuple[str, int], bool] = field(default_factory=dict)
    """How tests of the rank, by module and site, are to come out on all ranks."""

    @classmethod
    def on_ways(
        cls,
        past: PathHistory,
        ranks: tuple[int, int],
        events: tuple[Event | None, Event | None],
        differs: str,
    ) -> Iterator[Divergence]:
        """A divergence at the end of each way that leads there."""
        for steps, found in past.ways():
            met = [step.met for step in steps if step.met is not None]
            names = {step.renamed[0]: step.renamed[1] for step in reversed(steps) if step.renamed}
            assumed = {key: truth for key, truth in found.items() if not _is_way(key)}
            common = met[0] if met else -1
            yield cls(ranks, events, assumed, len(met), differs, common, names, past)

    def others(self) -> Iterator[Divergence]:
        """The same divergence, on other ways that lead there."""
        return islice(Divergence.on_ways(self.past, self.ranks, self.events, self.differs), 1, None)

    @property
    def is_open(self) -> bool:
        """Is one of them a call that is not looked into? It may hold what the other rank does."""
        return any(event is not None and event.kind == OPAQUE for event in self.events)

    @property
    def kind(self) -> tuple[object, ...]:
        """What makes two divergences alike: the last common collective, and where the ranks are.

        One that rests on what ranks have counted is no more refuted by others than they by it.
        """
        sites = [event and (event.module, event.site) for event in self.events]
        atoms = (key[1].atoms for key in self.assumed if isinstance(key, tuple))
        counted = any(each.op == v.CARRIED for found in atoms for each in found)
        return (*sites, self.differs, self.common, counted)

    @property
    def settings(self) -> frozenset[tuple[Question, bool]]:
        """What was decided for all ranks, but for the turns of loops."""
        return frozenset(
            (key, outcome)
            for key, outcome in self.assumed.items()
            if isinstance(key, Unknown) and key.op != "trip"
        )


@dataclass(slots=True, eq=False)
class _ProductState:
    """A place in the walk: one state for two ranks that are in the same, or the states of both."""

    states: tuple[State, ...]
    known: Known
    asked: Asked
    past: PathHistory
    lives: tuple[Live, ...] = ()
    meeting: Meeting = ((), frozenset())
    """Where it can be joined with others."""
    weight: int = 0
    """How much there is in what was joined: the unknowns of the values that differed."""
    gone: bool = False
    """Has it been joined with another one?"""

    def meet(self) -> None:
        """Note where it can be joined with others: where they have been asked the same at hand."""
        hands = {state.k for state in self.states}
        at_hand = frozenset([(key, self.known[key]) for key, k in self.asked if k in hands])
        places = tuple((state.k, state.it, tuple(state.results)) for state in self.states)
        self.meeting = (places, at_hand)


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
        worklist = _Worklist(self.context)
        worklist.add(_ProductState((self.start,), {}, frozenset(), PathHistory()))
        seen: set[Identity] = set()
        while (item := worklist.pop()) is not None:
            self.is_complete = self.is_complete and worklist.is_complete
            identity = self.abstraction.identity(item.states, item.lives, item.known)
            if identity in seen:
                continue
            seen.add(identity)
            if len(item.states) == 2:
                yield from self.advance_pair(machines, item, worklist)
                continue
            for step in self.following(item, identity):
                past = item.past.assume(step.decided)
                if step.met is not None:
                    past = past.meet(step.met)
                states = (step.state, step.state) if step.apart else (step.state,)
                worklist.add(_ProductState(states, step.known, step.asked, past))
        self.is_complete = self.is_complete and worklist.is_complete

    # ---- ranks that do the same

    def following(self, item: _ProductState, identity: Identity) -> tuple[_Step, ...]:
        """What follows for ranks in one state; found once for all pairs of ranks."""
        steps = self.next.get(identity)
        if steps is None:
            steps = self.next[identity] = tuple(self.steps(item))
        return steps

    def goes_on(self, item: _ProductState) -> bool:
        """Do ranks in one state get further without being told apart at once?"""
        item.lives, item.known = self.abstraction.matters(item.states, item.known, item.asked)
        identity = self.abstraction.identity(item.states, item.lives, item.known)
        return not any(step.apart for step in self.following(item, identity))

    def steps(self, item: _ProductState) -> Iterator[_Step]:
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
            asked = _still_asked(item.asked, (state,)) | {(need.key, state.k)}
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
        self, machines: tuple[Machine, Machine], item: _ProductState, worklist: _Worklist
    ) -> Iterator[Divergence]:
        known = dict(item.known)
        level = _level(item.states)
        found: list[Event | Stop | None] = []
        needs: list[tuple[Position, Question, Continuation | None]] = []
        for machine, state, other in zip(machines, item.states, reversed(machines), strict=True):
            machine.load(state)
            machine.known, machine.assumptions = known, []
            machine.level = level
            try:
                found.append(next_common(machine, other.rank))
            except BranchUndecided as need:
                needs.append((position(machine.save()), need.key, machine.k))
                found.append(None)
            except PathPruned:
                return
            if found[-1] is Stop.ABORT:
                return
        past = item.past.assume(pair for machine in machines for pair in machine.assumptions)
        states = (machines[0].save(), machines[1].save())
        asked = _still_asked(item.asked, states)
        if needs:
            _, key, k = min(needs, key=lambda need: need[0])
            is_same = len(needs) == 2 and needs[0][1:] == needs[1][1:]
            if is_same and not isinstance(key, tuple) and self.alike(states, known):
                together = _ProductState(states[:1], known, asked, past)
                if self.goes_on(together):
                    worklist.add(together)
                    return
            answers = _answers(key, known, machines)
            if is_same and _is_turn_of_no_use(key, machines):
                answers = (False,)
            for outcome in answers:
                now = past.assume([(key, outcome)])
                worklist.add(
                    _ProductState(states, {**known, key: outcome}, asked | {(key, k)}, now)
                )
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
        resume(machines[0], first, place)
        resume(machines[1], second, place)
        renamed = None if other_place == place else (other_place, place)
        past = past.meet(first.site, renamed)
        states = (machines[0].save(), machines[1].save())
        asked = _still_asked(asked, states)
        if self.alike(states, known):
            worklist.add(_ProductState(states[:1], known, asked, past))
        else:
            worklist.add(_ProductState(states, known, asked, past))

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


def _level(states: tuple[State, ...]) -> tuple[dict[Key, Value], dict[Key, Value]] | None:
    """The variables of two ranks, if they are at the same place."""
    first, second = states
    is_level = first.k is second.k and first.it == second.it
    return (first.store, second.store) if is_level else None


class _Worklist:
    """What is still to be walked, in the order of the program."""

    def __init__(self, context: ExecutionContext) -> None:
        self.context = context
        self.abstraction = context.abstraction
        self.heap: list[tuple[Position, int, _ProductState]] = []
        self.waiting: dict[Meeting, list[_ProductState]] = {}
        self.crowds: Counter[Places] = Counter()
        self.count = 0
        self.is_complete = True

    def pop(self) -> _ProductState | None:
        while self.heap:
            item = heappop(self.heap)[2]
            if not item.gone:
                self.waiting[item.meeting].remove(item)
                self.crowds[item.meeting[0]] -= 1
                return item
        return None

    def add(self, item: _ProductState) -> None:
        """Add an item, joined with those that wait at the same place.

        As long as few wait there, only if nothing is lost by it; else what was decided may be.
        """
        item.lives, item.known = self.abstraction.matters(item.states, item.known, item.asked)
        item.meet()
        waiting = self.waiting.setdefault(item.meeting, [])
        while waiting:
            other, joined = next(self.joins(item, waiting), (None, None))
            if other is None or joined is None:
                break
            item = joined
            item.meeting = other.meeting
            other.gone = True
            waiting.remove(other)
            self.crowds[other.meeting[0]] -= 1
        place = item.meeting[0]
        if self.crowds[place] < MOST:
            self.crowds[place] += 1
            self.count += 1
            waiting.append(item)
            heappush(self.heap, (min(map(position, item.states)), self.count, item))
        else:
            self.is_complete = False

    def joins(
        self, item: _ProductState, waiting: list[_ProductState]
    ) -> Iterator[tuple[_ProductState, _ProductState]]:
        """Items with which one can be joined, and what comes of it: those most like it first."""
        is_level = len({state.k for state in item.states}) == 1
        is_crowded = self.crowds[item.meeting[0]] >= (CROWD if is_level else CROWD_APART)
        facts = item.known.items()
        order = sorted(
            (len(facts ^ other.known.items()), number) for number, other in enumerate(waiting)
        )
        for distance, number in order:
            if distance > 2 and not is_crowded:
                return
            self.context.step()
            joined = _join(item, waiting[number], self.count if is_crowded else None)
            if joined is not None:
                self.context.spend(JOIN_SIZE + joined.weight)
                yield waiting[number], joined


def _join(one: _ProductState, two: _ProductState, crowd: int | None) -> _ProductState | None:
    """Both ways as one, if they differ in one decision and in what followed from it.

    In a crowd they may differ in more: what is not the same on both is forgotten. That adds ways
    that the program does not have; none of them survives the replay.
    """
    known = {key: outcome for key, outcome in one.known.items() if two.known.get(key) is outcome}
    differs = (one.known.keys() | two.known.keys()) - known.keys()
    splits = [key for key in one.known if key in differs and key in two.known]
    if crowd is None and not len(differs) == len(splits) <= 1:
        return None
    if crowd is not None and any(isinstance(key, tuple) for key in differs):
        return None  # what one rank knows of itself is what proofs are made of
    split: Question | None = splits[0] if splits else None
    if split is None and not _same(one, two, range(len(one.states))):
        if crowd is None:
            return None
        split = unknown(WAY, crowd, fresh=True)
    if split is None:
        return _ProductState(one.states, known, one.asked & two.asked, one.past, one.lives)
    then, orelse = (two, one) if one.known.get(split) is False else (one, two)
    if isinstance(split, tuple):
        other = 1 - SIDES.index(split[0])
        if len(one.states) == 1 or not _same(one, two, [other]):
            return None
    atom: Unknown = split[1] if isinstance(split, tuple) else split
    joined = [_join_states(atom, then, orelse, n, crowd) for n in range(len(one.states))]
    if None in joined:
        return None
    states = tuple(pair[0] for pair in joined if pair)
    lives = tuple(pair[1] for pair in joined if pair)
    asked = frozenset(pair for pair in one.asked | two.asked if pair[0] in known)
    past = then.past.join(split, orelse.past)
    weight = sum(pair[2] for pair in joined if pair)
    return _ProductState(states, known, asked, past, lives, weight=weight)


def _same(one: _ProductState, two: _ProductState, numbers: Iterable[int]) -> bool:
    return all(
        one.lives[number] == two.lives[number]
        and one.states[number].results == two.states[number].results
        for number in numbers
    )


def _join_states(
    atom: Unknown, then: _ProductState, orelse: _ProductState, number: int, crowd: int | None
) -> tuple[State, Live, int] | None:
    """A state that is the one where an unknown is true, and the other where it is false.

    The number counts the unknowns in the values that differed.
    """
    state, live = then.states[number], then.lives[number]
    if _same(then, orelse, [number]):
        return state, live, 0
    common = live & orelse.lives[number]
    second = orelse.states[number]
    order = (*state.store, *second.store)
    variables = _joined(atom, live - common, orelse.lives[number] - common, crowd, order)
    mine, other = state.results.items(), second.results.items()
    order = (*state.results, *second.results)
    values = _joined(atom, mine - other, other - mine, crowd, order)
    if variables is None or values is None:
        return None
    results = {**state.results, **values}
    store = {**state.store, **variables}
    joined = State(state.k, state.frame, state.it, results, store)
    weight = sum(len(value.atoms) for value in (*variables.values(), *values.values()))
    return joined, common.union(variables.items()), weight


def _still_asked(asked: Asked, states: tuple[State, ...]) -> Asked:
    """What the statements at hand, and those that wait for them to return, have asked."""
    if not asked:
        return asked
    hands = set()
    for state in states:
        k = state.k
        hands.add(k)
        while k is not None:
            if isinstance(k, ReturnToCaller):
                hands.add(k.next)
            k = k.next
    return frozenset(pair for pair in asked if pair[1] in hands)


def _innermost_call(state: State) -> Continuation | None:
    """Where the function returns in which a state is."""
    k = state.k
    while k is not None and not isinstance(k, ReturnToCaller):
        k = k.next
    return k


def _joined(
    atom: Unknown,
    then: Iterable[tuple[Slot, Value]],
    orelse: Iterable[tuple[Slot, Value]],
    crowd: int | None,
    order: Iterable[Slot],
) -> dict[Slot, Value] | None:
    """What two ways have left in the variables that differ; None if it cannot be told."""
    found: dict[Slot, Value] = {}
    left, right = dict(then), dict(orelse)
    differ = left.keys() | right.keys()
    several = len(differ) > 1  # states are told apart by the order, too, of what they hold
    for key in dict.fromkeys([key for key in order if key in differ]) if several else differ:
        if key[0] in FACTS:
            return None
        one = left.get(key) or unknown(v.UNSET, str(key[1]))
        two = right.get(key) or unknown(v.UNSET, str(key[1]))
        value = v.joined(atom, one, two)
        if not isinstance(value, v.Phi) and not (v.is_plain(one) and v.is_plain(two)):
            blurred = _blurred(one, two, crowd, str(key[1])) if crowd is not None else None
            if blurred is None:
                return None
            value = blurred
        found[key] = value
    return found


def _blurred(one: Value, two: Value, crowd: int, name: str) -> Value | None:
    """A value that is anything that two may be, whatever had led to it; None if that is too much.

    What a variable was before it was set counts for nothing.
    """
    found = dict.fromkeys((*v.leaves(one), *v.leaves(two)))
    kept = [leaf for leaf in found if getattr(leaf, "op", "") != v.UNSET] or list(found)
    if len(kept) > v.MAX_PHI_DEPTH + 1:
        numbers = [leaf for leaf in kept if v.holds_numbers(leaf)]
        kept = [leaf for leaf in kept if not v.holds_numbers(leaf)]
        kept.append(_any_of(numbers, crowd, name))
    if len(kept) > v.MAX_PHI_DEPTH + 1:
        return None
    value = kept[-1]
    local = (one.local or two.local) and all(map(v.is_count, kept))
    for number, leaf in enumerate(kept[:-1]):
        value = v.phi(unknown(WAY, crowd, number, local=local, fresh=True), leaf, value)
    return value


def _is_way(key: Question) -> bool:
    atom = key[1] if isinstance(key, tuple) else key
    return isinstance(atom, Unknown) and atom.op == WAY


def _any_of(numbers: list[Value], crowd: int, name: str) -> Unknown:
    """One of several numbers: which one is of no interest any more."""
    if not any(number.local for number in numbers):
        return unknown(v.EITHER, unknown(WAY, crowd, fresh=True), *numbers)
    wrapped = frozenset[int]().union(*(getattr(number, "wrapped", ()) for number in numbers))
    return unknown(LOST, crowd, name, local=True, fresh=True, wrapped=wrapped)


def position(state: State) -> Position:
    """How far a state has come: what comes earlier in the program is smaller.

    From the outermost block inwards: the statement, whether it is being run (or still is to come,
    after a block inside the one before), and how many calls in it have returned.
    """
    found: list[float] = [_LAST]
    running: float | None = len(state.results)
    k = state.k
    while k is not None:
        if isinstance(k, (RestOfBlock, LoopHead)):
            number = k.statement.site if isinstance(k, RestOfBlock) else k.index
            found += (0, number) if running is None else (running, 1, number)
            running = None
        elif isinstance(k, ReturnToCaller):
            running = len(k.results) + 0.5
        k = k.next
    return tuple(reversed(found))


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
    values = (event.root, *(value for _, value in event.agree))
    return any(value is not None and v.is_ranked(value) for value in values)


def resume(machine: Machine, event: Event, place: Place) -> None:
    """Go on after a matched collective; a result that has no simple place is left alone."""
    try:
        machine.resume(event, place)
    except (BranchUndecided, CollectiveReached, CallRequested):
        machine.results[event.result_key] = unknown("sync", place, fresh=True)


def _event(found: Event | Stop) -> Event | None:
    return found if isinstance(found, Event) else None


def next_common(machine: Machine, other: int) -> Event | Stop:
    """The next collective in which both this rank and ``other`` take part."""
    while True:
        event = machine.advance()
        if not isinstance(event, Event) or other in event.members:
            return event
        alone(machine, event)


def alone(machine: Machine, event: Event) -> None:
    """Pass a collective of a group that the other rank is no member of."""
    value: Value = unknown("sync", "own", machine.place(event), fresh=True)
    try:
        if event.result == "uniform_in_place" and event.result_target is not None:
            machine.assign_place(event.result_target, value)
            machine.assign_in_callers(event.result_target, value)
            value = v.const(None)
    except (BranchUndecided, CollectiveReached, CallRequested):
        pass
    machine.results[event.result_key] = event.value if event.value is not None else value


def difference(
    context: ExecutionContext, events: tuple[Event | Stop, Event | Stop], ranks: tuple[int, int]
) -> str | None:
    """Why two next collectives do not match: ``""`` or the argument that differs; else None."""
    first, second = events
    if not isinstance(first, Event) or not isinstance(second, Event):
        return ""
    if first.match != second.match:
        return ""
    if first.group != second.group:
        return "group" if first.site == second.site else ""
    if _differ(context, first.root, second.root, ranks):
        return "root"
    for (name, left), (_, right) in zip(first.agree, second.agree, strict=False):
        if _differ(context, left, right, ranks):
            return name
    return None


def _differ(
    context: ExecutionContext, left: Value | None, right: Value | None, ranks: tuple[int, int]
) -> bool:
    """Are two arguments known, and different?"""
    if left is None or right is None:
        return False
    if left is right and not isinstance(left, (v.PerRank, v.Seq)):
        return False
    size = context.cluster.size
    try:
        return bool(v.vector(left, size)[ranks[0]] != v.vector(right, size)[ranks[1]])
    except ValueError:
        return isinstance(left, v.External) and isinstance(right, v.External)


def root_state(
    context: ExecutionContext, frame: Frame, body: ir.Block, store: dict[Key, Value]
) -> State:
    """The state at the beginning of a root."""
    return Machine(context, 0, "A").start(frame, body, store)
