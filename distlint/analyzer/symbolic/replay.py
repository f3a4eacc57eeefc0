"""Running a witness on every rank of the cluster: only what deadlocks there is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
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
from distlint.analyzer.symbolic.matching import alone, difference, resume
from distlint.analyzer.symbolic.state import (
    OPAQUE,
    BranchUndecided,
    Event,
    Frame,
    GroupKey,
    Iterations,
    Known,
    LoopIn,
    PathPruned,
    Place,
    State,
    Stop,
)
from distlint.analyzer.symbolic.values import Unknown, unknown
from distlint.analyzer.symbolic.view import SIDES

MAX_EVENTS = 120
MAX_QUESTIONS = 200
_KNOWN = (v.Const, v.PerRank, v.WorldSizeExpr, v.Seq, v.Map)


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


def replay(
    context: ExecutionContext, start: State, divergence: Divergence
) -> tuple[list[Trace], bool]:
    """The traces of all ranks under the assumptions of a divergence, and whether they get stuck.

    The ranks beside the two side with the second or with the first of them; what none has
    assumed is false, or true. The traces end where the ranks get stuck or part.
    """
    executions, heads = _replayed(context, start, divergence)
    if heads is not None:
        for rank in divergence.ranks:
            executions[rank].run_to(divergence.serial)
    return [execution.trace for execution in executions], heads is not None


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
            asked = [(*as_less(atom), answer) for _, atom, answer in _answers(traces[rank])]
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
        executions, heads = _replayed(context, start, divergence, DecisionOracle(executions))
    return _divergence_of(context, executions, heads, divergence)


def probe(
    context: ExecutionContext, start: State, default: bool
) -> Iterator[tuple[list[Trace], Divergence]]:
    """Partings on the simplest way through a program that is too much to be compared.

    What is not known is false all along, or true all along, and loops have one turn. Then one rank
    decides differently what is its own to decide: one question at a time.

    Raises:
        OverBudget: when it takes too many steps.
    """
    guide = DecisionOracle(())
    assumed: list[Known] = [{}]
    for number, assumption in enumerate(assumed):
        divergence = Divergence((0, 1), (None, None), assumption, 0)
        executions = _executions(context, start, divergence, "B", default, guide)
        heads = _stuck(executions)
        ranks = _at_odds(context, heads) if heads is not None else None
        if number == 0:
            assumed += _own_questions(executions[0].trace)
        if heads is None or ranks is None or _proves_nothing(context, executions, ranks):
            continue
        if ranks != divergence.ranks:
            divergence = replace(divergence, ranks=ranks)
            executions = _executions(context, start, divergence, "B", default, guide)
            heads = _stuck(executions)
        found = _divergence_of(context, executions, heads, divergence)
        if found is not None:
            yield found


def _own_questions(trace: Trace) -> list[Known]:
    """Each question that a rank has answered for itself, with the other answer."""
    found: dict[tuple[object, ...], Known] = {}
    for spot, atom, outcome in _answers(trace):
        if atom.local:
            question = (atom.op == "exception", *spot[:2])
            found.setdefault(question, {("A", atom): not outcome})
    return [found[each] for each in sorted(found, key=lambda each: bool(each[0]))]


DecisionPoint = tuple[ir.Function | str, int, Iterations, Any]
"""A function, a site in it, the turns of the loops, and that of the loop in question."""


def _decisions(trace: Trace, since: int = 0) -> Iterator[tuple[DecisionPoint, Unknown, bool]]:
    """What a rank has decided where, and by which unknown."""
    for entry in decisions_in(trace.log[since:]):
        value = entry.value
        if isinstance(value, Unknown):
            yield _spot(entry.frame, entry.site, entry.turns, value), value, entry.outcome


def _answers(trace: Trace, since: int = 0) -> Iterator[tuple[DecisionPoint, Unknown, bool]]:
    """Where a rank has answered which questions, and how: a negation answers what it negates."""
    for spot, value, outcome in _decisions(trace, since):
        while isinstance(value, Unknown) and value.op == "not":
            value, outcome = value.args[0], not outcome
        if isinstance(value, Unknown):
            yield spot, value, outcome


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


class DecisionOracle:
    """What each rank has decided on one way, by the place in the program.

    Where calls are followed deeper, other values stand in the same tests.
    """

    def __init__(self, executions: Iterable[RankExecution]) -> None:
        self.decided = {
            execution.trace.rank: {spot: outcome for spot, _, outcome in _answers(execution.trace)}
            for execution in executions
        }

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
        return _staying(statement) if answer is None else answer


def _staying(statement: ir.Stmt) -> bool | None:
    """The answer with which a test lets the block go on, if the other one ends it."""
    if isinstance(statement, ir.Assert):
        return not isinstance(statement.test, ir.Not)
    if not isinstance(statement, ir.If) or ir.is_left(statement.body) == ir.is_left(
        statement.orelse
    ):
        return None
    return ir.is_left(statement.orelse) != isinstance(statement.test, ir.Not)


def _spot(frame: Frame, site: int, turns: Iterations, atom: Unknown) -> DecisionPoint:
    turn = atom.args[1] if atom.op == "trip" else None
    return (frame.function or frame.module.key, site, turns, turn)


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
        heads = _stuck(executions)
        if heads is None or all(heads[rank] is None for rank in divergence.ranks):
            continue  # no rank waits, or none of the two ranks that were found to part
        if not _proves_nothing(context, executions, divergence.ranks):
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


def _stuck(executions: list[RankExecution]) -> list[Event | None] | None:
    """Let the ranks meet in their collectives: where does a rank wait indefinitely, if so?"""
    ranks = [_Issuer(execution) for execution in executions]
    while True:
        if any(rank.is_cut for rank in ranks):
            return None
        queues = [rank.queue for rank in ranks]
        heads = met(queues)
        if heads is None:
            if go_on(queues, [rank.issue for rank in ranks]):
                continue
            waiting = [event for queue in queues for event in queue]
            is_stuck = bool(waiting) and all(event.kind != OPAQUE for event in waiting)
            is_stuck = is_stuck and all(rank.waits for rank in ranks)
            return [queue[0] if queue else None for queue in queues] if is_stuck else None
        # all go on under the name that the first rank of the divergence has for it
        namer = min(heads, key=lambda rank: (rank != executions[rank].pair[0], rank))
        place = executions[namer].machine.place(heads[namer])
        said = _said(heads, place)
        if said is not None and not all(execution.hears(*said) for execution in executions):
            return None
        for number, event in heads.items():
            ranks[number].leave(event, place)


class _Issuer:
    """A rank and the collectives that it has issued and that not all others have come to."""

    def __init__(self, execution: RankExecution) -> None:
        self.execution = execution
        self.queue: list[Event] = []
        self.place: Place | None = None
        """The name on all ranks of the last collective, if all have met in it."""
        self.issue()

    @property
    def is_cut(self) -> bool:
        """Is nothing known of how it goes on?"""
        execution = self.execution
        return execution.trace.ended is Stop.ABORT or not (self.queue or execution.at_end)

    @property
    def waits(self) -> bool:
        """Does it wait, or has it ended? It is not followed on and on past what does not block."""
        return self.execution.at_end or not self.queue[-1].is_posted

    def issue(self) -> bool:
        """Come to the next collective, if there is one."""
        event = self.execution.step(self.place)
        self.place = None
        if event is not None:
            self.queue.append(event)
        return event is not None

    def leave(self, event: Event, place: Place) -> None:
        self.queue.remove(event)
        if event is self.execution.trace.events[-1]:
            self.place = place
        if not self.queue:
            self.issue()


def _said(heads: Mapping[int, Event], place: Place) -> tuple[Unknown, int | float | bool] | None:
    """The number that the source of a broadcast has written out, and the name of what it sends."""
    for rank, head in heads.items():
        if head.kind == "broadcast" and isinstance(head.root, v.Const) and head.root.value == rank:
            number = v.number_in(head.payload_value)
            if isinstance(number, v.Const) and isinstance(number.value, (int, float)):
                return unknown("sync", place, fresh=True), number.value
    return None


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


def _proves_nothing(
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
        for _, atom, _ in _answers(execution.trace, execution.since_last()):
            if atom.op == "trip":
                for part in atom.atoms & context.told.keys():
                    told.setdefault(part, set()).add(execution.trace.rank)
    if any(_source(context, atom, ranks) not in (None, *ranks) for atom, ranks in told.items()):
        return True
    decisions = [
        {spot: (atom, outcome) for spot, atom, outcome in _decisions(execution.trace)}
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
    known = {spot for spot, *_ in _answers(other.trace)}
    return [
        outcome
        for spot, atom, outcome in _answers(execution.trace, execution.since_last())
        if atom.op == "trip" and not atom.local and spot not in known
        if getattr(atom.args[0], "op", "") != "range"
    ]


Answers = dict[DecisionPoint, list[tuple[Unknown, bool]]]
"""More than one where a function is called again."""


def _uniform_answers(execution: RankExecution) -> Answers:
    found: Answers = {}
    for spot, atom, outcome in _answers(execution.trace):
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


def _answer(atom: Unknown, default: bool, once: bool) -> bool:
    """Exceptions and further iterations are not assumed without need."""
    if atom.op == "trip":
        return once and atom.args[1] == 0
    return default and atom.op != "exception"


def met(queues: Sequence[Sequence[Event]]) -> dict[int, Event] | None:
    """A collective to which all its members have come, as each of them has issued it.

    ``queues`` holds what each rank has issued and not left. The collectives of one group are met
    in their order; one that blocks is met when those before it are.
    """
    for queue in queues:
        for event in queue:
            heads = {rank: _front(queues[rank], event.group) for rank in event.members}
            if _agree(event, heads.values()):
                return {rank: head for rank, head in heads.items() if head is not None}
    return None


def go_on(queues: Sequence[Sequence[Event]], issues: Sequence[Callable[[], bool]]) -> bool:
    """Let the ranks that do not block issue the next collective; False if none does.

    What they wait for afterwards is not looked at: a collective that blocks waits for all of it.
    """
    moved = [
        issue()
        for queue, issue in zip(queues, issues, strict=True)
        if queue and all(event.is_posted for event in queue)
    ]
    return any(moved)


def _front(queue: Sequence[Event], group: GroupKey) -> Event | None:
    found = next((event for event in queue if event.group == group), None)
    return found if found is None or found.is_posted or found is queue[0] else None


def _agree(event: Event, heads: Iterable[Event | None]) -> bool:
    return all(
        head is not None
        and head.match == event.match
        and not any(
            mine is not None and theirs is not None and mine != theirs
            for mine, theirs in zip(event.arguments, head.arguments, strict=False)
        )
        for head in heads
    )
