"""Running a witness on every rank of the cluster: only what deadlocks there is reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from distlint.analyzer import values as v
from distlint.analyzer.machine import ABORT, Machine
from distlint.analyzer.product import Parting, alone, resume
from distlint.analyzer.rehearsal import Rehearsal
from distlint.analyzer.state import OPAQUE, Cont, Cut, Event, Need, State
from distlint.analyzer.values import Unknown

MAX_EVENTS = 120
MAX_QUESTIONS = 200


@dataclass
class Trace:
    """What one rank does: its collectives, how it ends, and the log of decisions on the way."""

    rank: int
    events: list[Event] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Length of the log at each event."""
    turns: list[tuple[int, ...]] = field(default_factory=list)
    """Iterations of the enclosing loops at each event."""
    conts: list[Cont | None] = field(default_factory=list)
    """What was left to do at each event."""
    ended: str = "end"
    log: list[tuple[Any, ...]] = field(default_factory=list)
    asked: bool = False
    """Was there a question that the parting does not answer?"""


def replay(rehearsal: Rehearsal, start: State, parting: Parting) -> tuple[list[Trace], bool]:
    """The traces of all ranks under the assumptions of a parting, and whether they get stuck.

    The ranks beside the two side with the second or with the first of them; what nobody has
    assumed is false, or true. The traces end where the ranks get stuck or part.
    """
    traces: list[Trace] = []
    for others, default in _variants(parting):
        if default and not any(trace.asked for trace in traces):
            break
        players = [
            Player(rehearsal, start, rank, parting, others, default)
            for rank in range(rehearsal.cluster.size)
        ]
        traces = [player.trace for player in players]
        if _get_stuck(players) and not _is_hearsay(rehearsal, players):
            for rank in parting.ranks:
                players[rank].run_to(parting.serial)
            return traces, True
    return traces, False


def _variants(parting: Parting) -> tuple[tuple[str, bool], ...]:
    """What the other ranks may do: the sides differ in rank-local assumptions only."""
    if any(isinstance(key, tuple) for key in parting.assumed):
        return ("B", False), ("A", False), ("B", True)
    return ("B", False), ("B", True)


def run(
    rehearsal: Rehearsal,
    start: State,
    rank: int,
    parting: Parting,
    others: str,
    default: bool,
    once: bool = False,
) -> Trace:
    """One rank alone to its end; ``once`` runs each loop once."""
    player = Player(rehearsal, start, rank, parting, others, default, once)
    player.run_to(MAX_EVENTS)
    return player.trace


class Player:
    """One rank, from collective to collective, with what is not assumed decided one way."""

    def __init__(
        self,
        rehearsal: Rehearsal,
        start: State,
        rank: int,
        parting: Parting,
        others: str,
        default: bool,
        once: bool = False,
    ) -> None:
        first, second = parting.ranks
        side = "A" if rank == first else "B" if rank == second else others
        self.machine = Machine(rehearsal, rank, side)
        self.machine.load(start)
        self.machine.known = dict(parting.assumed)
        self.assumed = parting.assumed
        self.machine.log = []
        self.trace = Trace(rank, log=self.machine.log)
        self.partner = second if rank == first else first
        self.names = parting.names if side == "B" else {}
        self.default = default
        self.once = once
        self.common = 0
        """Collectives so far in which the partner takes part too."""
        self.at_end = False

    def run_to(self, common: int) -> None:
        """Go on until there have been more than this many collectives with the partner."""
        while self.common <= common and self.step() is not None:
            pass

    def step(self) -> Event | None:
        """The next collective; None at the end."""
        trace = self.trace
        if self.at_end or len(trace.events) >= MAX_EVENTS:
            return None
        if trace.events:
            self.leave(trace.events[-1])
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
        trace.log.append(("event", event.frame, event.site, machine.it))
        self.common += self.partner in event.members
        return event

    def leave(self, event: Event) -> None:
        """Go on behind a collective."""
        if self.partner in event.members:
            place = self.machine.place(event)
            resume(self.machine, event, self.names.get(place, place))
        else:
            alone(self.machine, event)

    def advance(self) -> Event | str:
        """Advance, answering open questions with the default."""
        for _ in range(MAX_QUESTIONS):
            try:
                return self.machine.advance()
            except Need as need:
                # the statement in hand is evaluated again
                del self.trace.log[self.machine.mark :]
                answer = self.recall(need)
                if answer is None:
                    answer = _answer(need.atom, self.default, self.once)
                    self.trace.asked = True
                self.machine.known[need.key] = answer
            except Cut:
                return ABORT
        return ABORT

    def recall(self, need: Need) -> bool | None:
        """What was assumed about the same question where it stood for several, on joined ways."""
        for key, outcome in self.assumed.items():
            if isinstance(key, tuple) != isinstance(need.key, tuple):
                continue
            if isinstance(key, tuple) and key[0] != need.key[0]:
                continue
            atom = key[1] if isinstance(key, tuple) else key
            if resembles(atom, need.atom):
                return outcome
        return None


def resembles(joined: Any, value: Any) -> bool:
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


def _get_stuck(players: list[Player]) -> bool:
    """Let the ranks meet in their collectives: does anybody wait for ever, or meet another?"""
    heads = [player.step() for player in players]
    while True:
        if any(
            head is None and (player.trace.ended == ABORT or not player.at_end)
            for head, player in zip(heads, players, strict=True)
        ):
            return False
        ready = next((head for head in heads if head is not None and meets(head, heads)), None)
        if ready is None:
            waiting = [head for head in heads if head is not None]
            return bool(waiting) and all(head.kind != OPAQUE for head in waiting)
        for rank in ready.members:
            heads[rank] = players[rank].step()


def _is_hearsay(rehearsal: Rehearsal, players: list[Player]) -> bool:
    """Does a rank repeat as often as it was told, and the source as often as it knew before?

    Both counts are the same, which only looking into the data would show.
    """
    size = rehearsal.cluster.size
    told: dict[Unknown, set[int]] = {}
    for player in players:
        places = [0, 0, *player.trace.places]
        since = places[-1] if player.at_end else places[-2]
        for entry in player.trace.log[since:]:
            if entry[0] == "decide" and getattr(entry[3], "op", "") == "trip":
                for atom in entry[3].atoms & rehearsal.told.keys():
                    told.setdefault(atom, set()).add(player.trace.rank)
    for atom, ranks in told.items():
        root, members = rehearsal.told[atom]
        try:
            source = v.vector(root, size)[min(ranks)]
        except ValueError:
            continue
        if source not in members and type(source) is int and source < len(members):
            source = sorted(members)[source]
        if source not in ranks:
            return True
    return False


def _answer(atom: Unknown, default: bool, once: bool) -> bool:
    """Exceptions and further iterations are not assumed without need."""
    if atom.op == "trip":
        return once and atom.args[1] == 0
    return default and atom.op != "exception"


def meets(event: Event, heads: list[Event | None]) -> bool:
    """Have all members of the group come to this very collective?"""
    for rank in event.members:
        other = heads[rank]
        if other is None or other.match != event.match or other.group != event.group:
            return False
        if any(
            mine is not None and theirs is not None and mine != theirs
            for mine, theirs in zip(event.arguments, other.arguments, strict=False)
        ):
            return False
    return True
