"""States that are still to be explored, in the order of the program; those that meet are merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeVar

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.continuations import (
    Continuation,
    LoopHead,
    RestOfBlock,
    ReturnToCaller,
)
from distlint.analyzer.symbolic.divergence import WAY, PathHistory
from distlint.analyzer.symbolic.state import Iterations, Known, Question, ResultKey, State
from distlint.analyzer.symbolic.state_abstraction import APART, Live, StateAbstraction
from distlint.analyzer.symbolic.values import LOST, Unknown, Value, const, unknown
from distlint.analyzer.symbolic.view import SIDE, SIDES, is_cached_result


class AskedAgain(NamedTuple):
    """What a statement in hand has asked, and asks again when the functions that it calls return.

    It does not once one of the calls has its result that were being evaluated.
    """

    question: Question
    statement: Continuation | None
    within: tuple[ResultKey, ...]


Asked = frozenset[AskedAgain]

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

JOIN_SIZE = 400
"""What joining two states costs, in variables that are handled."""

MOST = 24
"""States of which no more wait at one place, if they cannot be joined."""

MOST_IN_HAND = 64
"""The same with states that have been answered differently in the statement at hand."""


@dataclass(slots=True, eq=False)
class ProductState:
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

    def keep_what_matters(self, abstraction: StateAbstraction) -> None:
        """Forget what cannot be read or asked again."""
        again = {each.question for each in self.asked}
        self.lives, self.known = abstraction.matters(self.states, self.known, again)

    def meet(self) -> None:
        """Note where it can be joined with others: where they have been asked the same at hand."""
        hands = {state.k for state in self.states}
        asked = [each.question for each in self.asked if each.statement in hands]
        at_hand = frozenset([(question, self.known[question]) for question in asked])
        places = tuple((state.k, state.it, tuple(state.results)) for state in self.states)
        self.meeting = (places, at_hand)


class Worklist:
    """What is still to be walked, in the order of the program."""

    def __init__(self, context: ExecutionContext) -> None:
        self.context = context
        self.abstraction = context.abstraction
        self.heap: list[tuple[Position, int, ProductState]] = []
        self.waiting: dict[Meeting, list[ProductState]] = {}
        self.crowds: Counter[Places] = Counter()
        self.count = 0
        self.is_complete = True

    def pop(self) -> ProductState | None:
        while self.heap:
            item = heappop(self.heap)[2]
            if not item.gone:
                self.waiting[item.meeting].remove(item)
                self.crowds[item.meeting[0]] -= 1
                return item
        return None

    def add(self, item: ProductState) -> None:
        """Add an item, joined with those that wait at the same place.

        As long as few wait there, only if nothing is lost by it; else what was decided may be.
        """
        item.keep_what_matters(self.abstraction)
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
        if len(waiting) < MOST and self.crowds[place] < MOST_IN_HAND:
            self.crowds[place] += 1
            self.count += 1
            waiting.append(item)
            heappush(self.heap, (min(map(position, item.states)), self.count, item))
        else:
            self.is_complete = False

    def joins(
        self, item: ProductState, waiting: list[ProductState]
    ) -> Iterator[tuple[ProductState, ProductState]]:
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


def _join(one: ProductState, two: ProductState, crowd: int | None) -> ProductState | None:
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
        return ProductState(one.states, known, one.asked & two.asked, one.past, one.lives)
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
    asked = frozenset(each for each in one.asked | two.asked if each.question in known)
    past = then.past.join(split, orelse.past)
    weight = sum(pair[2] for pair in joined if pair)
    return ProductState(states, known, asked, past, lives, weight=weight)


def _same(one: ProductState, two: ProductState, numbers: Iterable[int]) -> bool:
    return all(
        one.lives[number] == two.lives[number]
        and one.states[number].results == two.states[number].results
        for number in numbers
    )


def _join_states(
    atom: Unknown, then: ProductState, orelse: ProductState, number: int, crowd: int | None
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
        if key[0] in APART:
            if crowd is None or not is_cached_result(key):
                return None
            found[key] = const(False)
            continue
        one = left.get(key) or unknown(v.UNSET, str(key[1]))
        two = right.get(key) or unknown(v.UNSET, str(key[1]))
        value = v.joined(atom, one, two)
        if not isinstance(value, v.Phi) and not (v.is_plain(one) and v.is_plain(two)):
            blurred = _blurred(one, two, crowd, str(key[1])) if crowd is not None else None
            if blurred is None:
                return None
            value = blurred
        elif crowd is not None and isinstance(value, v.Phi):
            value = _folded(value, crowd)
        found[key] = value
    return found


def _folded(value: v.Phi, crowd: int) -> Value:
    """One unknown for those that ways have left and that the ranks can only test, all alike."""
    parts = dict.fromkeys(_parts(value))
    groups: dict[object, list[Value]] = {}
    for part in parts:
        is_open = isinstance(part, Unknown) and not part.local and part.op != v.UNSET
        groups.setdefault(getattr(part, "wrapped", None) if is_open else part, []).append(part)
    if len(groups) == len(parts):
        return value
    kept = [each[0] if len(each) == 1 else _any_uniform(each, crowd) for each in groups.values()]
    return _one_of(kept, crowd)


def _one_of(values: list[Value], crowd: int, *, local: bool = False) -> Value:
    """One of several values, by unknowns that stand for the way."""
    value = values[-1]
    for number, other in enumerate(values[:-1]):
        value = v.phi(unknown(WAY, crowd, number, local=local, fresh=True), other, value)
    return value


def _any_uniform(values: list[Value], crowd: int) -> Unknown:
    """One of several values that are the same on all ranks: which one is of no interest."""
    return unknown(v.EITHER, unknown(WAY, crowd, fresh=True), *values)


def _parts(value: Value) -> Iterator[Value]:
    """The values that different ways have left, each with its own conditions."""
    if isinstance(value, v.Phi) and value.test.op == WAY and not value.test.local:
        yield from _parts(value.then)
        yield from _parts(value.orelse)
    else:
        yield value


def _blurred(one: Value, two: Value, crowd: int, name: str) -> Value | None:
    """A value that is anything that two may be, whatever had led to it; None if that is too much.

    What a variable was before it was set counts for nothing. What two ranks differ in is joined
    for each of them, as each may have taken another path.
    """
    side = _side_in(one) or _side_in(two)
    if side is not None:
        first = _blurred(_where(one, side, True), _where(two, side, True), crowd, name)
        second = _blurred(_where(one, side, False), _where(two, side, False), -1 - crowd, name)
        return None if first is None or second is None else v.phi(side, first, second)
    found = dict.fromkeys((*v.leaves(one), *v.leaves(two)))
    kept = [leaf for leaf in found if getattr(leaf, "op", "") != v.UNSET] or list(found)
    if len(kept) > v.MAX_PHI_DEPTH + 1:
        kept = _gathered(kept, crowd)
    if len(kept) > v.MAX_PHI_DEPTH + 1:
        numbers = [leaf for leaf in kept if v.holds_numbers(leaf)]
        kept = [leaf for leaf in kept if not v.holds_numbers(leaf)]
        kept.append(_any_of(numbers, crowd, name))
    if len(kept) > v.MAX_PHI_DEPTH + 1:
        return None
    return _one_of(kept, crowd, local=(one.local or two.local) and all(map(v.is_count, kept)))


def _side_in(value: Value) -> Unknown | None:
    """The test of which of two ranks it is, where a value differs between them."""
    if not isinstance(value, v.Phi):
        return None
    if value.test.op == SIDE:
        return value.test
    return _side_in(value.then) or _side_in(value.orelse)


def _where(value: Value, test: Unknown, outcome: bool) -> Value:
    """What a value is where a test has an outcome."""
    if not isinstance(value, v.Phi):
        return value
    if value.test is test:
        return _where(value.then if outcome else value.orelse, test, outcome)
    then, orelse = (_where(each, test, outcome) for each in (value.then, value.orelse))
    return v.phi(value.test, then, orelse)


def _gathered(values: list[Value], crowd: int) -> list[Value]:
    """Sequences that hold item for item as one: what a function returns on several ways."""
    parallel: dict[object, list[Value]] = {}
    for value in values:
        shape = (value.kind, len(value.items)) if isinstance(value, v.Seq) else value
        parallel.setdefault(shape, []).append(value)
    either = partial(v.joined, unknown(WAY, crowd, fresh=True))
    return [reduce(either, each) for each in parallel.values()]


def _any_of(numbers: list[Value], crowd: int, name: str) -> Unknown:
    """One of several numbers: which one is of no interest any more."""
    if not any(number.local for number in numbers):
        return _any_uniform(numbers, crowd)
    wrapped = frozenset[int]().union(*(getattr(number, "wrapped", ()) for number in numbers))
    return unknown(LOST, crowd, name, local=True, fresh=True, wrapped=wrapped)
