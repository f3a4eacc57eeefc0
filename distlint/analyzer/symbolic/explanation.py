"""What a divergence comes to for its readers: the witness that it is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import starmap
from typing import Literal

from distlint.analyzer import ir
from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.static.names import placed
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.branches import arms_of, is_inside_branch, nodes_at
from distlint.analyzer.symbolic.causes import Causes, operator_of
from distlint.analyzer.symbolic.continuations import (
    AbruptCompletion,
    EndOfGenerator,
    LetOthersIn,
    ResumeGenerator,
    ReturnToCaller,
    WithBlock,
)
from distlint.analyzer.symbolic.execution_log import (
    Decided,
    Exited,
    Jumped,
    LogEntry,
    decisions_in,
    first_decision,
)
from distlint.analyzer.symbolic.proofs import Proof
from distlint.analyzer.symbolic.sides import Logs, last_split
from distlint.analyzer.symbolic.state import Event, Frame, Iterations, Stop
from distlint.analyzer.symbolic.strategies import rules_out_strategies
from distlint.analyzer.symbolic.values import Const, Unknown, Value
from distlint.analyzer.symbolic.witness import EventFact, Witness
from distlint.source.finding import Decision, Place, Step

DecisionKind = Literal["rank predicate", "rank-local value", "failure path", "assumed"]


def witness_of(proof: Proof, locators: Locators, main: str) -> Witness | None:
    """Explain a proof; None when the divergence is no witness after all.

    ``main`` is the key of the module that is being checked.
    """
    return _Explainer(proof, locators, main).explain()


class _Explainer(Causes):
    def explain(self) -> Witness | None:
        found = self.proof.divergence.events
        if not self.is_certain(found) or self.rules_out(found):
            return None
        if any(map(self.is_lazy, (0, 1))):
            return None
        logs = self.logs_since_alignment()
        split = last_split(*logs)
        tails = (logs[0][split[0] :], logs[1][split[1] :])
        if self.proof.divergence.differs and _same_place(found):
            tails = ([], [])
        cause = self.cause(tails)
        failures = [
            entry
            for log in logs
            for entry in decisions_in(log)
            if entry.outcome and operator_of(entry.value) == "exception"
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
                or any(operator_of(each.value) == "exception" for each in decisions)
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
        return any(starmap(rules_out_strategies, self.proof.divergence.assumed.items()))

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
                if is_inside_branch(self.left_to_do(side), head)
            ]
            if len(inside) == 1 and not self.leaves_arm(head):
                return inside[0]
            if len(inside) == 1:
                # the arm ends with a jump: what follows is the other arm
                return next((fact for fact in facts if fact and fact.kind != "barrier"), first)
        return first

    def leaves_arm(self, head: Decided) -> bool:
        """Does the first arm of the branch end with a jump?"""
        blocks = arms_of(head)
        jumps = (ir.Return, ir.Break, ir.Continue)
        return bool(blocks and blocks[0]) and isinstance(blocks[0][-1], jumps)

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
                if operator_of(entry.value) != "under":
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
        words = [is_true(value) for value in row]
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


_VERBS = {
    AbruptCompletion.RETURN: "returns",
    AbruptCompletion.BREAK: "breaks out of the loop",
    AbruptCompletion.CONTINUE: "goes on to the next iteration",
}


def _is_expected(failure: Decided) -> bool:
    """Is the handler there for what does happen on one rank: it runs out of memory?"""
    return any(
        isinstance(node, ir.Handler) and node.is_for_memory
        for node in nodes_at(failure.frame, failure.site)
    )


def _same_place(found: tuple[Event | None, Event | None]) -> bool:
    """Is it the same call, made with different arguments?"""
    first, second = found
    return first is not None and second is not None and first.site == second.site


def _singles_out(value: Value) -> bool:
    """Does a condition hold on one rank alone, or on all but one?"""
    if not isinstance(value, v.PerRank):
        return False
    truths = [bool(each) for each in value.values]
    return len(truths) > 2 and 1 in (sum(truths), len(truths) - sum(truths))


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
    if operator_of(value) == "exception":
        return "failure path" if True in row else "assumed"
    return (
        "rank-local value" if value.local or (row[0] != row[1] and None not in row) else "assumed"
    )


def is_true(value: bool | None) -> str:
    return "" if value is None else "true" if value else "false"


def _short(text: str) -> str:
    return text if len(text) <= 70 else text[:67] + "..."
