"""Four ranks in lock step: a blocking collective completes when all its members have called it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn

from greenlet import getcurrent, greenlet

RANKS = (0, 1, 2, 3)


class Outcome(Enum):
    """How an execution of all ranks ended."""

    ALIGNED = "aligned"
    """Every rank came to its end."""
    DIVERGENT = "divergent"
    """Some rank waits for ever."""
    ABORTED = "aborted"
    """A rank failed, and the launcher ended the job."""
    DISCARDED = "discarded"
    """A loop wanted more iterations than the comparison covers."""
    INVALID = "invalid"
    """The script itself is broken."""


class Stopped(BaseException):
    """Unwinds a rank whose job is over."""


@dataclass(frozen=True, slots=True)
class Group:
    """A communicator. Two groups of the same ranks are still two groups."""

    number: int
    ranks: tuple[int, ...]


WORLD = Group(0, RANKS)

Finish = Callable[[Mapping[int, Any]], "Mapping[int, Any] | None"]
"""Combines the payloads of the members in place; may return a result for each."""


@dataclass(slots=True)
class Call:
    """A collective that a rank has entered."""

    members: tuple[int, ...]
    key: Hashable
    payload: Any
    finish: Finish | None


class Job:
    """One execution of all ranks."""

    def __init__(self, main: Callable[[int], None]) -> None:
        self.outcome: Outcome | None = None
        self.reason = ""
        self.waiting: dict[int, Call] = {}
        self._hub = getcurrent()
        self._main = main
        self._over = False

    def stop(self, outcome: Outcome, reason: str = "") -> None:
        """End the job now, whatever the other ranks do."""
        if self.outcome is None:
            self.outcome = outcome
            self.reason = reason

    def leave(self, outcome: Outcome, reason: str = "") -> NoReturn:
        """End the job from inside a rank."""
        self.stop(outcome, reason)
        raise Stopped

    def enter(self, rank: int, call: Call) -> Any:
        """Block a rank in a collective until its peers have come."""
        if self._over:  # a ``finally`` that runs while the rank is unwound
            raise Stopped
        self.waiting[rank] = call
        return self._hub.switch()

    def run(self) -> Outcome:
        """Run the ranks until all have ended, none can move, or the job is stopped."""
        main, waiting = self._main, self.waiting
        ranks = [greenlet(main) for _ in RANKS]
        results: list[Any] = [0, 1, 2, 3]  # the first switch passes the rank itself
        ready = deque(RANKS)
        while ready and self.outcome is None:
            rank = ready.popleft()
            ranks[rank].switch(results[rank])
            if ranks[rank].dead or self.outcome is not None:
                continue
            call = waiting[rank]
            key = call.key
            if all(peer in waiting and waiting[peer].key == key for peer in call.members):
                payloads = {peer: waiting.pop(peer).payload for peer in call.members}
                try:
                    found = call.finish(payloads) if call.finish else None
                except Exception as error:  # an argument that is no tensor, say
                    self.stop(Outcome.INVALID, f"{type(error).__name__}: {error}")
                    break
                for peer in call.members:
                    results[peer] = found[peer] if found is not None else None
                    ready.append(peer)
        if self.outcome is None:  # whatever a ``finally`` of theirs may raise now
            self.outcome = Outcome.DIVERGENT if waiting else Outcome.ALIGNED
        self._over = True
        for each in ranks:
            if each:  # begun and not ended
                each.throw(Stopped)
        return self.outcome
