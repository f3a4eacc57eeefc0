"""One rank in a replay, from collective to collective."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.context import ExecutionContext
from distlint.analyzer.symbolic.continuations import Continuation, LoopHead, RestOfBlock
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.execution_log import Issued, LogEntry, decisions_in
from distlint.analyzer.symbolic.joined_values import as_less, is_joined, outcomes, tests_in
from distlint.analyzer.symbolic.machine import Machine
from distlint.analyzer.symbolic.matching import alone, resume
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    Event,
    Frame,
    Iterations,
    Known,
    PathPruned,
    Place,
    State,
    Stop,
)
from distlint.analyzer.symbolic.values import Unknown
from distlint.analyzer.symbolic.view import SIDES

MAX_EVENTS = 120

MAX_QUESTIONS = 200

DecisionPoint = tuple[ir.Function | str, int, Iterations, Any]
"""A function, a site in it, the turns of the loops, and that of the loop in question."""


@dataclass
class Trace:
    """What one rank does: its collectives, how it ends, and the log of decisions on the way."""

    rank: int
    events: list[Event] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Length of the log at each event."""
    turns: list[Iterations] = field(default_factory=list)
    """Iterations of the enclosing loops at each event."""
    conts: list[Continuation | None] = field(default_factory=list)
    """What was left to do at each event."""
    ended: Stop = Stop.END
    log: list[LogEntry] = field(default_factory=list)
    is_cut: bool = False
    """Were there too many collectives, or too many questions?"""
    asked: bool = False
    """Was there a question that the divergence does not answer?"""


def decisions_of(trace: Trace, since: int = 0) -> Iterator[tuple[DecisionPoint, Unknown, bool]]:
    """What a rank has decided where, and by which unknown."""
    for entry in decisions_in(trace.log[since:]):
        value = entry.value
        if isinstance(value, Unknown):
            yield _spot(entry.frame, entry.site, entry.turns, value), value, entry.outcome


def answers_of(trace: Trace, since: int = 0) -> Iterator[tuple[DecisionPoint, Unknown, bool]]:
    """Where a rank has answered which questions, and how: a negation answers what it negates."""
    for spot, value, outcome in decisions_of(trace, since):
        while isinstance(value, Unknown) and value.op == "not":
            value, outcome = value.args[0], not outcome
        if isinstance(value, Unknown):
            yield spot, value, outcome


def answered(trace: Trace) -> dict[DecisionPoint, bool]:
    """How a rank has answered where it was asked, the last time."""
    return {spot: outcome for spot, _, outcome in answers_of(trace)}


class RankExecution:
    """One rank, from collective to collective, with what is not assumed decided one way."""

    def __init__(
        self,
        context: ExecutionContext,
        start: State,
        rank: int,
        divergence: Divergence,
        others: str,
        default: bool,
        agreed: Known,
        once: bool = False,
        guide: DecisionOracle | None = None,
    ) -> None:
        first, second = divergence.ranks
        side = "A" if rank == first else "B" if rank == second else others
        self.machine = Machine(context, rank, side)
        self.machine.load(start)
        self.assumed = divergence.assumed
        self.machine.known = dict(divergence.assumed)
        if rank not in divergence.ranks:
            self.side_with_neither()
        self.machine.log = []
        self.machine.forced = divergence.forced
        self.machine.joins = guide is None  # a question about several ways is none of the parts'
        self.trace = Trace(rank, log=self.machine.log)
        self.pair = divergence.ranks
        self.partner = second if rank == first else first
        self.names = divergence.names if side == "B" else {}
        self.default = default
        self.once = once
        self.guide = guide
        self.agreed = agreed
        """What is the same on all ranks, as decided by whoever comes to it first."""
        self.told: dict[Unknown, int | float | bool] = {}
        """Numbers that broadcasts have brought."""
        self.turned: dict[ir.While, bool] = {}
        """What it is told at the next turn of a loop, which would have no end otherwise."""
        self.common = 0
        """Collectives so far in which the partner takes part too."""
        self.at_end = False

    def side_with_neither(self) -> None:
        """Leave open what this rank must answer by where its part of a list starts."""
        for key in self.assumed:
            if isinstance(key, tuple) and strides.starts(key[1]) is not None:
                self.machine.known.pop(key)

    def since_last(self) -> int:
        """Where in its log the rank has left the collective before the one that it has come to."""
        places = [0, 0, *self.trace.places]
        return places[-1] if self.at_end else places[-2]

    def run_to(self, common: int) -> None:
        """Go on until there have been more than this many collectives with the partner."""
        while self.common <= common and self.step() is not None:
            pass

    def step(self, place: Place | None = None) -> Event | None:
        """The next collective; None at the end. ``place`` names the last one on all its ranks."""
        trace = self.trace
        if self.at_end or len(trace.events) >= MAX_EVENTS:
            trace.is_cut = not self.at_end
            return None
        if trace.events:
            self.leave(trace.events[-1], place)
        event = self.advance()
        if not isinstance(event, Event):
            trace.ended = event
            self.at_end = True
            return None
        machine = self.machine
        trace.events.append(event)
        trace.places.append(len(trace.log))
        trace.turns.append(machine.it)
        trace.conts.append(machine.k)
        trace.log.append(Issued(event.frame, event.site, machine.it))
        self.common += self.partner in event.members
        return event

    def leave(self, event: Event, place: Place | None) -> None:
        """Go on after a collective."""
        if self.partner in event.members:
            own = self.machine.place(event)
            resume(self.machine, event, place or self.names.get(own, own))
        else:
            alone(self.machine, event)

    def advance(self) -> Event | Stop:
        """Advance, answering open questions with the default."""
        machine = self.machine
        machine.known.update(self.agreed)
        for _ in range(MAX_QUESTIONS):
            try:
                return machine.advance()
            except BranchUndecided as need:
                # the statement in hand is evaluated again
                del self.trace.log[machine.mark :]
                machine.known[need.key] = answer = self.answer(need)
                machine.assumptions.append((need.key, answer))
            except PathPruned:
                return Stop.ABORT
            finally:
                self.tell()
        self.trace.is_cut = True
        return Stop.ABORT

    def answer(self, need: BranchUndecided) -> bool:
        """What is assumed, or was decided at this place, or else the default."""
        for atom, number in self.told.items():
            told = _as_told(need.atom, atom, number) if atom in need.atom.atoms else None
            if told is not None:
                return bool(told)
        answer = self.by_stride(need)
        if answer is None:
            answer = self.recall(need)
        if answer is None:
            answer = self.as_part(need)
        if answer is None and self.guide is not None:
            answer = self.guide.answer(self, need)
        if answer is None:
            answer = _answer(need.atom, self.default, self.once)
            self.trace.asked = True
        return answer

    def by_stride(self, need: BranchUndecided) -> bool | None:
        """What the answers of the two ranks that part leave to this one."""
        if not isinstance(need.key, tuple):
            return None
        question = need.key[1]
        sides = zip(self.pair, SIDES, strict=True)
        answers = [(rank, self.assumed.get((side, question))) for rank, side in sides]
        return strides.settled(question, self.trace.rank, answers)

    def tell(self) -> None:
        """What has been decided holds for all ranks, unless it is about something of their own."""
        for key, answer in self.machine.assumptions:
            if not isinstance(key, tuple):
                self.agreed[key] = answer
        self.machine.assumptions.clear()

    def hears(self, atom: Unknown, number: int | float | bool) -> bool:
        """Note what a broadcast tells; False if something else has been assumed of it."""
        self.told[atom] = number
        for key, outcome in self.assumed.items():
            if isinstance(key, Unknown) and atom in key.atoms:
                answer = _as_told(key, atom, number)
                if answer is not None and bool(answer) is not outcome:
                    return False
        return True

    def recall(self, need: BranchUndecided) -> bool | None:
        """What was assumed about the same question where it stood for several, on joined ways."""
        for key, outcome in self.assumed.items():
            if isinstance(key, tuple) != isinstance(need.key, tuple):
                continue
            if isinstance(key, tuple) and key[0] != self.machine.side:
                continue
            atom = key[1] if isinstance(key, tuple) else key
            if resembles(atom, need.atom):
                return outcome
        return None

    def as_part(self, need: BranchUndecided) -> bool | None:
        """The answer with which a question about joined values comes out as it was assumed.

        Here it is asked in parts: which of the values it is, and then the question about that one.
        Where any answer will do, the two ranks give different ones.
        """
        for key, outcome in self.assumed.items():
            if not isinstance(key, tuple) or key[0] != self.machine.side or not is_joined(key[1]):
                continue
            if any(test is need.atom for test in tests_in(key[1])):
                able = [outcome in outcomes(key[1], need.atom, each) for each in (True, False)]
                self.trace.asked = True
                return able[0] if able[0] is not able[1] else outcome is not self.default
            atom, is_positive = as_less(need.atom)
            if need.atom is not key[1] and resembles(key[1], atom):
                return outcome is is_positive
        return None


class DecisionOracle:
    """What each rank has decided on one way, by the place in the program.

    Where calls are followed deeper, other values stand in the same tests.
    """

    def __init__(
        self, decided: Mapping[int, Mapping[DecisionPoint, bool]], *, leaves: bool = False
    ) -> None:
        self.decided = decided
        self.leaves = leaves
        """Are blocks left where nothing was decided? Otherwise ranks stay in them."""

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> DecisionOracle:
        return cls({trace.rank: answered(trace) for trace in traces})

    def answer(self, execution: RankExecution, need: BranchUndecided) -> bool | None:
        """What was decided at the place where a rank is now."""
        machine, k = execution.machine, execution.machine.k
        if not isinstance(k, (RestOfBlock, LoopHead)):
            return None
        statement = k.statement
        spot = _spot(machine.frame, statement.site, machine.it, need.atom)
        answer = self.decided.get(execution.trace.rank, {}).get(spot)
        if answer is None and isinstance(statement, ir.While):
            answer = execution.turned.get(statement, execution.default)
            execution.turned[statement] = not answer
        if answer is not None:
            return answer
        stays = _staying(statement)
        return stays if stays is None else stays is not self.leaves


def _spot(frame: Frame, site: int, turns: Iterations, atom: Unknown) -> DecisionPoint:
    turn = atom.args[1] if atom.op == "trip" else None
    return (frame.function or frame.module.key, site, turns, turn)


def _staying(statement: ir.Stmt) -> bool | None:
    """The answer with which a test lets the block go on, if the other one ends it."""
    if isinstance(statement, ir.Assert):
        return not isinstance(statement.test, ir.Not)
    if not isinstance(statement, ir.If) or ir.is_left(statement.body) == ir.is_left(
        statement.orelse
    ):
        return None
    return ir.is_left(statement.orelse) != isinstance(statement.test, ir.Not)


def resembles(joined: object, value: object) -> bool:
    """Is a value what a joined one stands for on one of the ways?"""
    if joined is value:
        return True
    if isinstance(joined, v.Phi):
        return resembles(joined.then, value) or resembles(joined.orelse, value)
    if isinstance(joined, Unknown):
        if joined.op == "either":
            return any(resembles(arg, value) for arg in joined.args[1:])
        if joined.op == v.LOST:
            return isinstance(value, (Unknown, v.Phi)) and value.local
        if joined.op == "deep":  # what it was made of is not known any more
            return isinstance(value, Unknown) and value.op == "deep"
        if joined.op == "exception":  # in one try, wherever it is noticed that a rank has failed
            return isinstance(value, Unknown) and _try_of(joined) == _try_of(value)
        return (
            isinstance(value, Unknown)
            and joined.op == value.op
            and len(joined.args) == len(value.args)
            and all(map(resembles, joined.args, value.args))
        )
    if isinstance(joined, v.Seq):
        return (
            isinstance(value, v.Seq)
            and len(joined.items) == len(value.items)
            and all(map(resembles, joined.items, value.items))
        )
    return not isinstance(joined, v.Value) and bool(joined == value)


def _try_of(failure: Unknown) -> tuple[object, ...] | None:
    """The statement, the function and the turn of a failure; None if it is none."""
    if failure.op != "exception":
        return None
    site, module, _, *where = failure.args
    return site, module, *where


def _as_told(value: object, atom: Unknown, number: int | float | bool) -> int | float | bool | None:
    """What a term comes to when one part of it is a number; None if that does not settle it."""
    if value is atom:
        return number
    if isinstance(value, v.Const):
        return value.value if isinstance(value.value, (int, float)) else None
    if not isinstance(value, Unknown):
        return None
    if value.op in {"==", "<"}:
        left, right = (_as_told(arg, atom, number) for arg in value.args)
        if left is None or right is None:
            return None
        return left == right if value.op == "==" else left < right
    if value.op in {"number", "index"}:
        return _as_told(value.args[0], atom, number)
    return None


def _answer(atom: Unknown, default: bool, once: bool) -> bool:
    """Exceptions and further iterations are not assumed without need."""
    if atom.op == "trip":
        return once and atom.args[1] == 0
    return default and atom.op != "exception"
