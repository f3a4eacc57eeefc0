"""The decision by which two ranks have diverged."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.hooks import STOP_FLAGS
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.branches import is_inside_branch, is_while, sites_below
from distlint.analyzer.symbolic.continuations import AbruptCompletion
from distlint.analyzer.symbolic.execution_log import (
    Assigned,
    Decided,
    Exited,
    Issued,
    Jumped,
    LogEntry,
    first_decision,
)
from distlint.analyzer.symbolic.sides import Logs, Sides
from distlint.analyzer.symbolic.state import Frame
from distlint.analyzer.symbolic.strides import is_rest
from distlint.analyzer.symbolic.values import Unknown, Value
from distlint.analyzer.symbolic.witness import CauseFact, CauseKind, ExitKind
from distlint.source.finding import Place


class Causes(Sides):
    """Finds the decision that has separated the two ranks."""

    def cause(self, tails: Logs) -> CauseFact:
        heads = [first_decision(tail) for tail in tails]
        head = heads[0] or heads[1]
        if head is None and not self.proof.divergence.differs:
            # they had parted before they last met, and met by chance
            head = next(reversed(self.differing()), None)
        if head is None:
            return self.cause_at_event()
        head = next(_turns_over_rest(tails), head)
        frame, site, value = head.frame, head.site, head.value
        other = heads[1] if head is heads[0] else None
        same_place = other is None or other.place == head.place
        locator = self.locators.of(frame.module.key)
        kind = self.cause_kind(value, other.value if other is not None and same_place else value)
        writer = self.writer(head) if kind in {"state", "local"} else None
        if writer is not None and operator_of(writer.value) == "exception":
            text = self.locators.of(writer.frame.module.key).text(writer.site)
            return CauseFact("exception", text, self.located(writer), site=writer.site)
        if kind == "state":
            deciding = [writer] if writer is not None else self.writing() or self.differing()
            if deciding and not any(v.is_ranked(entry.value) for entry in deciding):
                kind = "local"
        if writer is not None and kind == "state" and writer.value.local:
            kind = "local"
        if kind == "local" and is_while(frame, site):
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
        operator = operator_of(value)
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
                    function = entry.frame.function  # the condition may call it again
                    if ir.last_name(entry.target) not in names and (
                        function is None or function.name not in {*names, "__call__"}
                    ):
                        continue
                    if entry.place not in assigned[1 - side]:
                        if v.is_ranked(last.value):
                            return last
                        found = last
        return found

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
        """Do both sides reach a collective inside the arms of the deciding branch?"""
        found = 0
        for side, event in enumerate(self.proof.divergence.events):
            if event is None:
                return False
            if is_inside_branch(self.left_to_do(side), head):
                found += 1
        return found == 2

    def exit_after(self, tails: Logs, frame: Frame) -> tuple[ExitKind, Place, int] | None:
        """The jump with which one side leaves, right after the decision."""
        jumps = []
        head = first_decision(*tails)
        below = sites_below(head) if head is not None and head.frame is frame else frozenset()
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
                if isinstance(entry, Jumped) and head is not None and _stays(entry, head):
                    continue
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

    def names_read(self, head: Decided) -> frozenset[str]:
        """The names in the text of a condition."""
        text = self.locators.of(head.frame.module.key).text(head.site)
        return frozenset("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


_JUMPS: dict[AbruptCompletion, ExitKind] = {
    AbruptCompletion.RETURN: "return",
    AbruptCompletion.BREAK: "break",
    AbruptCompletion.CONTINUE: "continue",
}


def _is_iteration(value: Value) -> bool:
    """Is it the sequence of a loop rather than a condition?"""
    return isinstance(value, v.PerRank) and any(
        isinstance(item, (range, tuple, frozenset)) for item in value.values
    )


def _turns_over_rest(tails: Logs) -> Iterator[Decided]:
    """The further turns of the rank that also goes through what is left over.

    That is what differs between ranks, not the test that has chosen this part.
    """
    for tail in tails:
        for entry in tail:
            if isinstance(entry, Decided) and operator_of(entry.value) == "trip":
                assert isinstance(entry.value, Unknown)
                if entry.value.local and is_rest(entry.value.args[0]):
                    yield entry


def operator_of(value: Value) -> str:
    return value.op if isinstance(value, Unknown) else ""


def _stays(jump: Jumped, head: Decided) -> bool:
    """Does a jump only leave, or go on with, a loop that was entered after the decision?"""
    return (
        jump.frame is head.frame
        and jump.completion is not AbruptCompletion.RETURN
        and len(jump.turns) > len(head.turns)
    )
