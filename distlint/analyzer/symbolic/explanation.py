"""A witness: two groups of ranks that come to different collectives, and why."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.static.hooks import NEXT_STEP, STOP_FLAGS
from distlint.analyzer.static.names import placed
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.collectives import UNDER, asks_for_strategy
from distlint.analyzer.symbolic.continuations import (
    AbruptCompletion,
    Continuation,
    EndOfGenerator,
    LetOthersIn,
    RestOfBlock,
    ResumeGenerator,
    ReturnToCaller,
    WithBlock,
)
from distlint.analyzer.symbolic.entry_points import Proof
from distlint.analyzer.symbolic.execution_log import (
    Assigned,
    Decided,
    Exited,
    Issued,
    Jumped,
    LogEntry,
    decisions_in,
    first_decision,
)
from distlint.analyzer.symbolic.replay import Trace
from distlint.analyzer.symbolic.state import Event, Frame, Iterations, Stop
from distlint.analyzer.symbolic.values import Const, Unknown, Value
from distlint.source.finding import Decision, Place, Step, waiting

CauseKind = Literal["rank", "local", "exception", "loop", "state", "order"]
ExitKind = Literal["return", "break", "continue", "sys.exit", "should_stop"]

Logs = tuple[list[LogEntry], list[LogEntry]]
"""What each of the two sides has done."""

DecisionKind = Literal["rank predicate", "rank-local value", "failure path", "assumed"]


@dataclass(frozen=True, slots=True)
class EventFact:
    """A collective that one side comes to."""

    op: str
    kind: str
    entry: str
    text: str
    place: Place
    group: str = ""
    site: int = 0


@dataclass(frozen=True, slots=True)
class CauseFact:
    """The decision that separated the ranks."""

    kind: CauseKind
    text: str
    place: Place
    exit: ExitKind | None = None
    exit_place: Place | None = None
    in_loop: bool = False
    site: int = 0
    exit_site: int | None = None
    """Where the node of the exit is found, in the file of ``exit_place``."""
    written: Place | None = None
    """Where only some ranks wrote the variable that the condition reads."""


@dataclass(frozen=True, slots=True)
class Witness:
    """What a rule of the family DST1xx is asked about."""

    first: EventFact | None
    second: EventFact | None
    ranks: tuple[str, str]
    cause: CauseFact
    common: Step | None
    steps: tuple[tuple[Step, ...], tuple[Step, ...]]
    decisions: tuple[Decision, ...]
    subject: EventFact | None = None
    """The collective that one side alone comes to, as far as that can be told."""
    region: str | None = None
    """Name of the context manager that lets one rank go first."""
    region_event: EventFact | None = None
    """The collective inside that region."""
    local: bool = False
    weak: bool = False
    failure: bool = False
    conditional: tuple[str, ...] = ()
    same_event_arguments: str | None = None
    call_place: Place | None = None
    """Where the root calls into the function of the cause, when that lies in another file."""

    @property
    def weight(self) -> tuple[int, ...]:
        """What makes a witness less telling than another: the smaller, the better."""
        return (bool(self.conditional), self.failure, self.weak, self.local, len(self.decisions))

    @property
    def effect(self) -> str:
        """What happens when the job runs."""
        if self.same_event_arguments is not None:
            return "the ranks wait for each other in the same call, or exchange wrong data"
        first, second = self.first, self.second
        if first is not None and second is not None:
            return f"{waiting(self.ranks[0])} in {first.op}, {self.ranks[1]} in {second.op}"
        event = first or second
        ranks = self.ranks[0] if first is not None else self.ranks[1]
        op = event.op if event is not None else "a collective"
        return f"{waiting(ranks)} in {op} until the timeout"


def witness_of(proof: Proof, locators: Locators, main: str) -> Witness | None:
    """Explain a proof; None when the divergence is no witness after all.

    ``main`` is the key of the module that is being checked.
    """
    return _Explainer(proof, locators, main).explain()


class _Explainer:
    def __init__(self, proof: Proof, locators: Locators, main: str) -> None:
        self.proof = proof
        self.main = main
        self.locators = locators
        first, second = proof.divergence.ranks
        self.traces = (
            proof.irrelevant.without(proof.traces[first]),
            proof.irrelevant.without(proof.traces[second]),
        )
        self.others = (second, first)
        self.common = tuple(
            [index for index, event in enumerate(trace.events) if other in event.members]
            for trace, other in zip(self.traces, self.others, strict=True)
        )

    def explain(self) -> Witness | None:
        found = self.proof.divergence.events
        if not self.is_certain(found) or self.rules_out(found):
            return None
        if any(map(self.is_lazy, (0, 1))):
            return None
        logs = self.logs_since_alignment()
        split = _split(*logs)
        tails = (logs[0][split[0] :], logs[1][split[1] :])
        if self.proof.divergence.differs and _same_place(found):
            tails = ([], [])
        cause = self.cause(tails)
        failures = [
            entry
            for log in logs
            for entry in decisions_in(log)
            if entry.outcome and _operator(entry.value) == "exception"
        ]
        is_expected = bool(failures) and all(map(_is_expected, failures))
        decisions = [entry for log in tails for entry in decisions_in(log)]
        unsure = [event for event in found if event is not None and not event.certain]
        # a group whose members are not known may be just those ranks, unless it is one alone and
        # was given, or is of a mesh: one that an object keeps may reach into another job, such as
        # an engine's; two ranks in different collectives of one group are at odds in any case
        given = all(_is_given(event.group[1]) for event in unsure) or (
            len(unsure) == 2 and unsure[0].group == unsure[1].group
        )
        ranked = [
            each
            for each in decisions
            if v.is_ranked(each.value) and not (given and _singles_out(each.value))
        ]
        if unsure and ranked:
            return None
        local = [each for each in decisions if each.value.local]
        if cause.kind in {"local", "exception", "loop"} and not local:
            local = [each for each in self.differing() if each.value.local] or [
                each for each in decisions if isinstance(each.value, Unknown)
            ]
        region = self.region(found)
        facts = [self.fact(event) if event is not None else None for event in found]
        return Witness(
            first=facts[0],
            second=facts[1],
            ranks=self.rank_names(tails),
            cause=cause,
            common=self.last_common(),
            steps=(self.steps(tails[0], found[0], 0), self.steps(tails[1], found[1], 1)),
            decisions=self.decisions(logs),
            region=region[0] if region else None,
            region_event=facts[region[1]] if region else None,
            local=bool(local) or cause.kind == "local" or is_expected,
            weak=bool(local)
            and (all(_is_weak(each.value) for each in local) or _share_data(found)),
            call_place=self.call_place(tails),
            failure=not is_expected
            and (
                bool(failures)
                or any(_operator(each.value) == "exception" for each in decisions)
                or cause.kind == "exception"
            ),
            conditional=tuple(
                dict.fromkeys(tag for event in found if event is not None for tag in event.tags)
            ),
            same_event_arguments=self.proof.divergence.differs or None,
            subject=self.subject(facts, tails),
        )

    def is_certain(self, found: tuple[Event | None, Event | None]) -> bool:
        """A mismatch on an unknown group says nothing beside one that is known."""
        if found[0] is not None and found[1] is not None and found[0].match == found[1].match:
            return found[0].certain and found[1].certain
        return True

    def is_lazy(self, side: int) -> bool:
        """Is a group or a wrapped model made on first use? Nobody knows here when that was."""
        event = self.proof.divergence.events[side]
        if event is None or event.kind not in {"group_creation", "wrap"}:
            return False
        decided = list(decisions_in(self.traces[side].log))
        if event.kind == "group_creation":
            asked = [entry.value for entry in decided if entry.frame is event.frame]
            if asked and _fills_on_first_use(event.frame.function, asked[-1]):
                return True
        if self.proof.divergence.serial >= len(self.common[side]):
            # the replay got stuck elsewhere, and does not tell how it is come to
            return event.kind == "wrap"
        callers = set(self.callers(side))
        filled = _filled_by(event.frame.function) if event.kind == "group_creation" else set[str]()
        return any(
            entry.frame in callers
            and _fills_on_first_use(entry.frame.function, entry.value, filled)
            for entry in decided
        )

    def callers(self, side: int) -> Iterator[Frame]:
        """The frames in which a side has come to the event that parts it from the other."""
        trace = self.traces[side]
        index = self.common[side][self.proof.divergence.serial]
        yield trace.events[index].frame
        k = trace.conts[index]
        while k is not None:
            if isinstance(k, ReturnToCaller):
                yield k.caller
            k = k.next

    def rules_out(self, found: tuple[Event | None, Event | None]) -> bool:
        """Has a test of the strategy said no on the way to a collective that depends on it?"""
        if not any(event is not None and event.tags for event in found):
            return False
        return any(
            not outcome
            and isinstance(atom, Unknown)
            and atom.op != UNDER
            and asks_for_strategy(atom)
            for atom, outcome in self.proof.divergence.assumed.items()
        )

    # ---- where the paths part

    def logs_since_alignment(self) -> Logs:
        """The logs since the two ranks last met at the same place in the same iteration."""
        serial = self.proof.divergence.serial
        starts = [0, 0]
        if any(
            event is not None and event.name == NEXT_STEP for event in self.proof.divergence.events
        ):
            serial_from = 0  # what a flag says has been written before the ranks last met
        else:
            serial_from = serial
        for number in range(serial_from - 1, -1, -1):
            pair = [
                (trace, self.common[side][number]) if number < len(self.common[side]) else None
                for side, trace in enumerate(self.traces)
            ]
            if pair[0] is None or pair[1] is None:
                continue
            events = [trace.events[index] for trace, index in pair]  # type: ignore[misc]
            if events[0].site == events[1].site and events[0].frame is events[1].frame:
                if pair[0][0].turns[pair[0][1]] != pair[1][0].turns[pair[1][1]]:
                    continue
                starts = [trace.places[index] for trace, index in pair]  # type: ignore[misc]
                break
        ends = [
            trace.places[self.common[side][serial]]
            if serial < len(self.common[side])
            else len(trace.log)
            for side, trace in enumerate(self.traces)
        ]
        return (
            self.traces[0].log[starts[0] : ends[0]],
            self.traces[1].log[starts[1] : ends[1]],
        )

    def cause(self, tails: Logs) -> CauseFact:
        heads = [first_decision(tail) for tail in tails]
        head = heads[0] or heads[1]
        if head is None and not self.proof.divergence.differs:
            # they had parted before they last met, and met by chance
            head = next(reversed(self.differing()), None)
        if head is None:
            return self.cause_at_event()
        frame, site, value = head.frame, head.site, head.value
        other = heads[1] if head is heads[0] else None
        same_place = other is None or other.place == head.place
        locator = self.locators.of(frame.module.key)
        kind = self.cause_kind(value, other.value if other is not None and same_place else value)
        writer = self.writer(head) if kind in {"state", "local"} else None
        if writer is not None and _operator(writer.value) == "exception":
            text = self.locators.of(writer.frame.module.key).text(writer.site)
            return CauseFact("exception", text, self.located(writer), site=writer.site)
        if kind == "state":
            deciding = [writer] if writer is not None else self.writing() or self.differing()
            if deciding and not any(v.is_ranked(entry.value) for entry in deciding):
                kind = "local"
        if writer is not None and kind == "state" and writer.value.local:
            kind = "local"
        if kind == "local" and _is_while(frame, site):
            kind = "loop"
        leaving = self.exit_after(tails, frame)
        if kind == "rank" and leaving is None and self.both_arms(head):
            kind = "order"
        return CauseFact(
            kind=kind,
            text=locator.text(site),
            place=locator.place(site),
            exit=leaving[0] if leaving else None,
            exit_place=leaving[1] if leaving else None,
            in_loop=bool(head.turns),
            site=site,
            exit_site=leaving[2] if leaving else None,
            written=self.written(head) if kind == "state" else None,
        )

    def cause_at_event(self) -> CauseFact:
        """Nothing but the collective itself differs."""
        event = self.proof.divergence.events[0] or self.proof.divergence.events[1]
        assert event is not None
        locator = self.locators.of(event.module)
        kind: CauseKind = "rank" if self.proof.divergence.differs else "order"
        place = locator.place(event.site)
        return CauseFact(kind, locator.text(event.site), place, site=event.site)

    def cause_kind(self, value: Value, other: Value) -> CauseKind:
        if v.is_ranked(value) or v.is_ranked(other):
            return "loop" if _is_iteration(value) else "rank"
        operator = _operator(value)
        if value.local or other.local:
            if operator == "exception":
                return "exception"
            return "loop" if operator == "trip" else "local"
        return "state" if value is not other else "rank"

    def writer(self, head: Decided) -> Decided | None:
        """The decision by which a variable of the condition differs: a rank test if possible."""
        names = self.names_read(head)
        assigned = self.assigned()
        diverged = set(self.differing())
        found: Decided | None = None
        for side, trace in enumerate(self.traces):
            last: Decided | None = None
            for entry in trace.log:
                if isinstance(entry, Decided):
                    if entry in diverged or self.alone(entry, side):
                        last = entry
                elif last is not None and isinstance(entry, Assigned):
                    if ir.last_name(entry.target) not in names:
                        continue
                    if entry.place not in assigned[1 - side]:
                        if v.is_ranked(last.value):
                            return last
                        found = last
        return found

    def assigned(self) -> list[set[tuple[Frame, int]]]:
        """Where each side has assigned something."""
        return [
            {entry.place for entry in trace.log if isinstance(entry, Assigned)}
            for trace in self.traces
        ]

    def alone(self, entry: Decided, side: int) -> bool:
        """Did the other side come to another answer to this very question?"""
        return any(
            other.question == entry.question and other.outcome != entry.outcome
            for other in decisions_in(self.traces[1 - side].log)
        )

    def differing(self) -> list[Decided]:
        """All decisions, from the start on, that the two ranks took differently."""
        first, second = (
            {entry.question: entry for entry in decisions_in(trace.log)} for trace in self.traces
        )
        return [
            entry
            for question, entry in first.items()
            if question in second and second[question].outcome != entry.outcome
        ]

    def writing(self) -> list[Decided]:
        """Those of the decisions taken differently after which one side alone assigns something."""
        diverged = {entry.question: entry for entry in self.differing()}
        assigned = self.assigned()
        found: dict[Decided, None] = {}
        for side, trace in enumerate(self.traces):
            last: Decided | None = None
            for entry in trace.log:
                if isinstance(entry, Decided):
                    last = diverged.get(entry.question)
                elif isinstance(entry, Assigned) and last is not None:
                    if entry.place not in assigned[1 - side]:
                        found[last] = None
        return list(found)

    def both_arms(self, head: Decided) -> bool:
        """Do both sides come to a collective inside the arms of the deciding branch?"""
        found = 0
        for side, event in enumerate(self.proof.divergence.events):
            if event is None:
                return False
            if _inside_branch(self.left_to_do(side), head):
                found += 1
        return found == 2

    def left_to_do(self, side: int) -> Continuation | None:
        """The continuation of a side at the collective where the ranks part."""
        serial = self.proof.divergence.serial
        common = self.common[side]
        return self.traces[side].conts[common[serial]] if serial < len(common) else None

    def subject(self, facts: list[EventFact | None], tails: Logs) -> EventFact | None:
        """The collective inside the deciding branch, or the one that the other side lacks."""
        first, second = facts
        if first is None or second is None:
            return first or second
        head = first_decision(*tails)
        if head is not None:
            inside = [
                fact
                for side, fact in enumerate(facts)
                if _inside_branch(self.left_to_do(side), head)
            ]
            if len(inside) == 1 and not self.leaves_arm(head):
                return inside[0]
            if len(inside) == 1:
                # the arm ends with a jump: what follows is the other arm
                return next((fact for fact in facts if fact and fact.kind != "barrier"), first)
        return first

    def leaves_arm(self, head: Decided) -> bool:
        """Does the first arm of the branch end with a jump?"""
        blocks = _arms(head)
        jumps = (ir.Return, ir.Break, ir.Continue)
        return bool(blocks and blocks[0]) and isinstance(blocks[0][-1], jumps)

    def exit_after(self, tails: Logs, frame: Frame) -> tuple[ExitKind, Place, int] | None:
        """The jump with which one side leaves, right after the decision."""
        jumps = []
        below = _sites_below(frame, tails)
        for tail in tails:
            jump: tuple[ExitKind, LogEntry] | None = None
            for entry in tail[1:]:
                if isinstance(entry, Issued):
                    break
                if isinstance(entry, Exited) and entry.ok:
                    jump = ("sys.exit", entry)
                if jump is not None:
                    continue  # another exit on the way out is the one that counts
                if isinstance(entry, Assigned):
                    if getattr(entry.target, "attr", "") in STOP_FLAGS:
                        jump = ("should_stop", entry)
                        break
                if isinstance(entry, Jumped) and entry.frame is frame:
                    if not below or entry.site in below:
                        jump = (_JUMPS[entry.completion], entry)
                    break
            jumps.append(jump)
        left = [jump for jump in jumps if jump is not None]
        if len(left) == 2 and left[0][1].site == left[1][1].site:
            return None
        left.sort(key=lambda jump: jump[1].site)
        # an ordinary return at the end of the function is no exit of its own
        for name, entry in left:
            if self.is_early(entry):
                return name, self.located(entry), entry.site
        return None

    def is_early(self, entry: LogEntry) -> bool:
        """Is it no return at the end of a function?"""
        function = entry.frame.function
        if isinstance(entry, (Exited, Assigned)) or function is None:
            return True
        last = function.body[-1] if function.body else None
        return not (isinstance(last, ir.Return) and last.site == entry.site)

    def written(self, head: Decided) -> Place | None:
        """The assignment that only one of the sides made."""
        sites = [
            {
                (entry.frame.module.key, entry.site)
                for entry in trace.log[: trace.places[-1] if trace.places else None]
                if isinstance(entry, Assigned)
            }
            for trace in self.traces
        ]
        alone = sites[0] ^ sites[1]
        names = self.names_read(head)
        for trace in self.traces:
            for entry in reversed(trace.log):
                if isinstance(entry, Assigned) and (entry.frame.module.key, entry.site) in alone:
                    if ir.last_name(entry.target) in names:
                        return self.located(entry)
        return None

    def located(self, entry: LogEntry) -> Place:
        """Where in its file an entry belongs."""
        return self.locators.of(entry.frame.module.key).place(entry.site)

    def names_read(self, head: Decided) -> frozenset[str]:
        """The names in the text of a condition."""
        text = self.locators.of(head.frame.module.key).text(head.site)
        return frozenset("".join(c if c.isalnum() or c == "_" else " " for c in text).split())

    # ---- words

    def fact(self, event: Event) -> EventFact:
        locator = self.locators.of(event.module)
        text = locator.text(event.site)
        place = locator.place(event.site)
        return EventFact(
            event.op, event.kind, event.name, text, place, event.group_text, event.site
        )

    def last_common(self) -> Step | None:
        serial = self.proof.divergence.serial
        if serial == 0 or not self.common[0]:
            return None
        event = self.traces[0].events[self.common[0][min(serial, len(self.common[0])) - 1]]
        return self.step_of(event)

    def step_of(self, event: Event) -> Step:
        locator = self.locators.of(event.module)
        text = f"{event.op}: {_short(locator.text(event.site))}"
        return Step(text, locator.place(event.site), is_collective=True)

    def steps(self, tail: list[LogEntry], event: Event | None, side: int) -> tuple[Step, ...]:
        """What one side does from the decision on; how callees return is no news."""
        found = []
        for entry in tail:
            if isinstance(entry, Exited):
                found.append(Step("exits", self.located(entry)))
            elif isinstance(entry, Jumped) and entry.frame.depth <= tail[0].frame.depth:
                if self.is_early(entry):
                    found.append(Step(_VERBS[entry.completion], self.located(entry)))
        del found[2:]
        if event is not None:
            found.append(self.step_of(event))
        elif self.traces[side].ended is Stop.END:
            found.append(Step("reaches the end"))
        return tuple(found)

    def decisions(self, logs: Logs) -> tuple[Decision, ...]:
        found: dict[tuple[str, int, Iterations, Value], Decided] = {}
        table: dict[tuple[str, int, Iterations, Value], list[bool | None]] = {}
        for side, log in enumerate(logs):
            for entry in decisions_in(log):
                if _operator(entry.value) != "under":
                    key = (entry.frame.module.key, entry.site, entry.turns, entry.value)
                    row = table.setdefault(key, [None, None])
                    if row[side] is None:
                        row[side] = entry.outcome
                        found.setdefault(key, entry)
        telling = []
        for key, row in table.items():
            entry = found[key]
            text = self.locators.of(entry.frame.module.key).text(entry.site)
            kind = _decision_kind(entry.value, row)
            outcome = self.outcome(row, entry.value)
            telling.append(Decision(text, outcome, kind, self.located(entry)))
        notable = [d for d in telling if d.kind != "assumed"] or telling
        return tuple(dict.fromkeys(notable))[-5:]

    def outcome(self, row: list[bool | None], value: Value) -> str:
        names = self.named_classes(value) if isinstance(value, v.PerRank) else self.side_names
        words = [_truth(value) for value in row]
        if row[0] == row[1]:
            return words[0]
        return ", ".join(
            f"{word} on {name}" for name, word in zip(names, words, strict=True) if word
        )

    @property
    def side_names(self) -> tuple[str, str]:
        first, second = self.proof.divergence.ranks
        return f"rank {first}", f"rank {second}"

    def rank_names(self, tails: Logs) -> tuple[str, str]:
        for tail in tails:
            for entry in decisions_in(tail):
                if isinstance(entry.value, v.PerRank):
                    return self.named_classes(entry.value)
        if any(entry.value.local for tail in tails for entry in decisions_in(tail)):
            return "one rank", "another rank"
        return self.side_names

    def named_classes(self, value: v.PerRank) -> tuple[str, str]:
        """Names for the two sides of a rank predicate."""
        cluster = self.proof.cluster
        outcome = [bool(item) for item in value.values]
        first, second = self.proof.divergence.ranks
        if outcome[first] == outcome[second]:
            return self.side_names
        for name, other, mask in (
            ("rank 0", "the other ranks", [r == 0 for r in range(cluster.size)]),
            (
                "the last rank",
                "the other ranks",
                [r == cluster.size - 1 for r in range(cluster.size)],
            ),
            (
                "local rank 0 of each node",
                "the other local ranks",
                [n == 0 for n in cluster.coordinates("local")],
            ),
        ):
            if outcome in (mask, [not item for item in mask]):
                return (name, other) if mask[first] else (other, name)
        return self.side_names

    def call_place(self, tails: Logs) -> Place | None:
        """Where the module that is checked calls into the one in which the ranks part."""
        head = first_decision(*tails)
        if head is None or head.frame.module.key == self.main:
            return None
        for side in (0, 1):
            k = self.left_to_do(side)
            while k is not None:
                if isinstance(k, ReturnToCaller) and k.caller.module.key == self.main:
                    return self.locators.of(self.main).place(k.site) if k.site else None
                if isinstance(k, EndOfGenerator) and k.caller.module.key == self.main:
                    return self.locators.of(self.main).place(k.statement.site)
                k = k.next
        return None

    def region(self, found: tuple[Event | None, Event | None]) -> tuple[str, int] | None:
        """The first-process region that one side is in while the other waits at its edge."""
        for side, event in enumerate(found):
            if event is None:
                continue
            k = self.left_to_do(side)
            other = found[1 - side]
            while k is not None:
                if isinstance(k, WithBlock) and isinstance(k.at_exit, LetOthersIn):
                    if event.site != k.site and (
                        other is None or other.site == k.site or other.kind == "barrier"
                    ):
                        return k.at_exit.first.name.rsplit(".", 1)[-1], side
                if isinstance(k, ResumeGenerator) and other is not None:
                    function = k.generator.function
                    if other.frame is k.generator and function is not None:
                        return function.name, side
                k = k.next
        return None


_JUMPS: dict[AbruptCompletion, ExitKind] = {
    AbruptCompletion.RETURN: "return",
    AbruptCompletion.BREAK: "break",
    AbruptCompletion.CONTINUE: "continue",
}
_VERBS = {
    AbruptCompletion.RETURN: "returns",
    AbruptCompletion.BREAK: "breaks out of the loop",
    AbruptCompletion.CONTINUE: "goes on to the next iteration",
}


def _is_expected(failure: Decided) -> bool:
    """Is the handler there for what does happen on one rank: it runs out of memory?"""
    return any(
        isinstance(node, ir.Handler) and node.is_for_memory
        for node in _nodes_at(failure.frame, failure.site)
    )


def _same_place(found: tuple[Event | None, Event | None]) -> bool:
    """Is it the same call, made with different arguments?"""
    first, second = found
    return first is not None and second is not None and first.site == second.site


def _split(first: list[LogEntry], second: list[LogEntry]) -> tuple[int, int]:
    """Where two logs part for good: the last decision that differs before they lose each other.

    Branches that rejoin with nothing but local work in them are skipped: the logs meet again there.
    """
    left, right = _keys(first), _keys(second)
    i = j = 0
    last: tuple[int, int] | None = None
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            one, other = first[i], second[j]
            if isinstance(one, Decided) and isinstance(other, Decided):
                last = (i, j) if one.outcome != other.outcome else last
            i, j = i + 1, j + 1
            continue
        again = _meeting(left, right, i, j)
        if again is None:
            break
        i, j = again
    return last if last is not None else (i, j)


_EntryKey = tuple[type[LogEntry], Frame, int, Iterations, int]
"""What identifies an entry: kind, activation, site, iteration, collectives so far."""


def _keys(log: list[LogEntry]) -> list[_EntryKey]:
    """What identifies each entry of a log."""
    serial = 0
    found = []
    for entry in log:
        serial += isinstance(entry, Issued)
        turns = entry.turns if isinstance(entry, (Decided, Issued)) else ()
        found.append((type(entry), entry.frame, entry.site, turns, serial))
    return found


def _meeting(
    left: list[_EntryKey], right: list[_EntryKey], i: int, j: int
) -> tuple[int, int] | None:
    """The nearest positions from which two logs say the same."""
    places = {key: index for index, key in reversed(list(enumerate(right[j:], j)))}
    best = None
    for index in range(i, len(left)):
        other = places.get(left[index])
        if other is not None and (best is None or index + other < sum(best)):
            best = (index, other)
    return best


def _inside_branch(k: Continuation | None, head: Decided) -> bool:
    """Is a continuation inside an arm of the branch that was decided?"""
    blocks = _arms(head)
    while k is not None:
        if isinstance(k, RestOfBlock) and any(k.block is block for block in blocks):
            return True
        k = k.next
    return False


def _sites_below(frame: Frame, tails: Logs) -> frozenset[int]:
    """Sites of the statements inside the branch that was decided first; none if it is no branch."""
    head = first_decision(*tails)
    if head is None or head.frame is not frame:
        return frozenset()
    last: ir.If | None = None
    stack: list[Any] = list(_body_of(frame))
    while stack:
        node = stack.pop()
        # sites count up: the condition belongs to the last statement that begins before it
        if isinstance(node, ir.If) and node.site <= head.site:
            last = node if last is None or node.site > last.site else last
        if isinstance(node, (ir.Stmt, ir.Handler)):
            stack.extend(c for c in ir.children(node) if isinstance(c, (ir.Stmt, ir.Handler)))
    if last is None:
        return frozenset()
    below = {
        statement.site
        for block in (*_blocks_below(last.body), *_blocks_below(last.orelse))
        for statement in block
    }
    # the condition of another kind of statement further down is not this branch's
    return frozenset(below) if not below or head.site < min(below) else frozenset()


def _arms(head: Decided) -> list[ir.Block]:
    """The blocks below the branch that was decided, nested ones included."""
    site = head.site
    stack: list[Any] = list(_body_of(head.frame))
    while stack:
        node = stack.pop()
        if isinstance(node, (ir.If, ir.For, ir.While)) and node.site == site:
            return [*_blocks_below(node.body), *_blocks_below(node.orelse)]
        if isinstance(node, ir.Handler) and node.site == site:
            return _blocks_below(node.body)
        if isinstance(node, (ir.Stmt, ir.Handler)):
            stack.extend(c for c in ir.children(node) if isinstance(c, (ir.Stmt, ir.Handler)))
    return []


def _body_of(frame: Frame) -> ir.Block:
    """The body of the function, or of the module, that runs in a frame."""
    return frame.function.body if frame.function is not None else frame.module.body


def _blocks_below(block: ir.Block) -> list[ir.Block]:
    found = [block]
    for statement in block:
        for name in ("body", "orelse", "final"):
            inner = getattr(statement, name, None)
            if inner:
                found.extend(_blocks_below(inner))
        for handler in getattr(statement, "handlers", ()):
            found.extend(_blocks_below(handler.body))
    return found


def _is_while(frame: Frame, site: int) -> bool:
    """Is it the header of a while loop?"""
    return any(isinstance(node, ir.While) for node in _nodes_at(frame, site))


def _nodes_at(frame: Frame, site: int) -> Iterator[ir.Stmt | ir.Handler]:
    """The statements and handlers of a function, or of a module, that have a site."""
    stack: list[Any] = list(_body_of(frame))
    while stack:
        node = stack.pop()
        if isinstance(node, (ir.Stmt, ir.Handler)):
            if node.site == site:
                yield node
            stack.extend(ir.children(node))


def _singles_out(value: Value) -> bool:
    """Does a condition hold on one rank alone, or on all but one?"""
    if not isinstance(value, v.PerRank):
        return False
    truths = [bool(each) for each in value.values]
    return len(truths) > 2 and 1 in (sum(truths), len(truths) - sum(truths))


def _is_iteration(value: Value) -> bool:
    """Is it the sequence of a loop rather than a condition?"""
    return isinstance(value, v.PerRank) and any(
        isinstance(item, (range, tuple, frozenset)) for item in value.values
    )


def _operator(value: Value) -> str:
    return value.op if isinstance(value, Unknown) else ""


def _is_given(group: object) -> bool:
    """Is it a parameter, ``mesh["dp"].get_group()``, or the mesh of a DTensor?"""
    if not isinstance(group, Unknown):
        return group == "mesh"
    return group.op == "param" or (group.op == "method" and "get_group" in group.args)


def _asks_whether_made(value: Value) -> bool:
    """``x is None``, ``not x``, ``len(x) == 0``, ``hasattr(f, "x")``, ``key not in x``."""
    while isinstance(value, Unknown) and value.op in {"not", "either"} and value.args:
        value = value.args[0]
    if not isinstance(value, Unknown) or value.local:
        return False
    if value.op in {"global", "attr", "hasattr", "in", "not in"}:
        return True
    return value.op in {"is", "=="} and any(
        isinstance(arg, Const) and arg.value in (None, 0) for arg in value.args
    )


def _fills_on_first_use(
    function: ir.Function | None, value: Value, more: Collection[str] = ()
) -> bool:
    """``if self.x is None: self.x = ...``: is it asked for something that the function fills?

    ``more`` is filled by a function that it calls.
    """
    if not _asks_whether_made(value):
        return False
    return not {*_filled_by(function), *more}.isdisjoint(getattr(value, "tokens", ()))


def _filled_by(function: ir.Function | None) -> set[str]:
    """The last names of what a function assigns, itself or an item of it."""
    filled: set[str] = set()
    for statement, _ in placed(function.body) if function is not None else ():
        for target in statement.targets if isinstance(statement, ir.Assign) else ():
            while isinstance(target, ir.Subscript):
                target = target.value
            filled.add(ir.last_name(target))
    return filled


def _is_weak(value: Value) -> bool:
    return bool(getattr(value, "weak", False))


_OF_ONE_MODEL = re.compile(
    r"pipeline|tensor|model_?par|context_par|sequence_par|(?<![a-z])[tpc]p(?![a-z])", re.IGNORECASE
)


def _share_data(events: tuple[Event | None, Event | None]) -> bool:
    """Are the collectives between the parts of one model? Its ranks work on the same batch."""
    return all(event is None or _OF_ONE_MODEL.search(_group_words(event)) for event in events)


def _group_words(event: Event) -> str:
    """How a group is called where it is used, and where it comes from."""
    source = event.group[1] if isinstance(event.group, tuple) else None
    return " ".join((event.group_text, *sorted(getattr(source, "tokens", ()))))


def _decision_kind(value: Value, row: list[bool | None]) -> DecisionKind:
    if v.is_ranked(value):
        return "rank predicate"
    if _operator(value) == "exception":
        return "failure path"
    return (
        "rank-local value" if value.local or (row[0] != row[1] and None not in row) else "assumed"
    )


def _truth(value: bool | None) -> str:
    return "" if value is None else "true" if value else "false"


def _short(text: str) -> str:
    return text if len(text) <= 70 else text[:67] + "..."


__all__ = ["CauseFact", "EventFact", "Trace", "Witness", "witness_of"]
