"""All ranks meet in their collectives: which are matched, and where ranks get stuck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.collective_results import shared_value
from distlint.analyzer.symbolic.rank_execution import RankExecution
from distlint.analyzer.symbolic.state import OPAQUE, Event, GroupKey, Place, Stop
from distlint.analyzer.symbolic.values import Unknown


def stuck(executions: list[RankExecution]) -> list[Event | None] | None:
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
                return shared_value(head, place), number.value
    return None


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
