"""What one execution knows: its job, its unknown values, its groups."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from benchmarks.random_programs.oracle.choices import Chooser
from benchmarks.random_programs.oracle.rendezvous import RANKS, WORLD, Group, Job

WORLD_SIZE = len(RANKS)
RANKS_PER_NODE = 2


class State:
    """Shared by the four ranks, and renewed for each execution."""

    def __init__(self) -> None:
        self.failures: tuple[Exception, ...] = ()

    def begin(self, job: Job, chooser: Chooser) -> None:
        """Forget the previous execution."""
        self.job = job
        self.chooser = chooser
        self.uniforms: dict[Hashable, int] = {}
        self.groups = WORLD.number
        self.handlers: list[list[Any]] = [[] for _ in RANKS]
        """For each rank, what the ``try`` statements around its current call would catch."""

    def uniform(self, key: Hashable, options: int) -> int:
        """Give the value of an unknown that is the same on all ranks, and stays the same."""
        found = self.uniforms.get(key)
        if found is None:
            found = self.uniforms[key] = self.chooser.uniform(options)
        return found

    def may_fail(self, rank: int) -> None:
        """Let a call that nobody can see into raise, on this rank and this time only.

        It raises only what some handler around it would catch: any other failure ends the job.
        """
        if handlers := self.handlers[rank]:
            caught = [each for each in self.failures if isinstance(each, tuple(handlers))]
            kind = self.chooser.failure(rank, len(caught)) if caught else 0
            if kind:
                failure = caught[kind - 1]
                raise type(failure)(*failure.args)

    def new_group(self, ranks: tuple[int, ...]) -> Group:
        """Number the group that all ranks have just agreed to make."""
        self.groups += 1
        return Group(self.groups, ranks)


class Catching:
    """The body of a ``try`` that has handlers."""

    __slots__ = ("_handlers", "_types")

    def __init__(self, handlers: list[Any], types: tuple[Any, ...]) -> None:
        self._handlers = handlers
        self._types = types

    def __enter__(self) -> None:
        self._handlers.append(self._types)

    def __exit__(self, *_details: object) -> None:
        self._handlers.pop()


class Fresh:
    """A clock reading or a random number: each comparison goes either way on each rank."""

    __slots__ = ("_rank", "_state")

    def __init__(self, state: State, rank: int) -> None:
        self._state = state
        self._rank = rank

    def _same(self, other: Any) -> Fresh:
        return self

    def _compare(self, other: Any) -> bool:
        return bool(self._state.chooser.local(self._rank))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _same
    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __format__(self, spec: str) -> str:
        return "0.0"
