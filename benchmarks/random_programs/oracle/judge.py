"""Run a script under many valuations and say whether any of them hangs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from benchmarks.random_programs.oracle.choices import Chooser, Sampled, Systematic
from benchmarks.random_programs.oracle.instrument import (
    BOUND,
    CATCHING,
    CAUGHT,
    Program,
    prepare,
)
from benchmarks.random_programs.oracle.modules import Imports
from benchmarks.random_programs.oracle.rendezvous import RANKS, Job, Outcome, Stopped
from benchmarks.random_programs.oracle.state import Catching, State

MAX_ITERATIONS = 2
"""A ``while`` loop that wants more discards the execution; ``for`` loops are short by make."""

_BROKEN = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    RecursionError,
    TypeError,
)
"""What a script raises by mistake, never on purpose."""

_FIRST_SAMPLES = 32
"""Random executions that come before the systematic ones: they find most bugs at once."""


class InvalidProgramError(Exception):
    """The script is broken in itself, so there is nothing to compare."""


@dataclass(frozen=True)
class Judgement:
    """What the oracle found."""

    verdict: Literal["divergent", "aligned"]
    executions: int
    exhaustive: bool
    """All valuations were tried, so ``aligned`` is certain."""
    stuck: str = ""
    """For a divergent script, who waits where in the execution that shows it."""
    outcomes: Counter[Outcome] = field(default_factory=Counter)


class Cluster:
    """Four simulated ranks that execute scripts."""

    def __init__(self) -> None:
        self._state = State()
        self._imports = [Imports(self._state, rank) for rank in RANKS]
        self._globals = [
            {
                "__builtins__": each.builtins,
                BOUND: self._bound,
                CATCHING: partial(self._catching, rank),
                CAUGHT: self._caught,
            }
            for rank, each in enumerate(self._imports)
        ]

    def load(self, source: str) -> None:
        """Take a script."""
        self._program: Program = prepare(source)
        self._state.failures = self._program.failures

    def execute(self, chooser: Chooser) -> Job:
        """Run the script once on all ranks."""
        self._job = job = Job(self._rank_main)
        self._state.begin(job, chooser)
        job.run()
        return job

    def _rank_main(self, rank: int) -> None:
        job = self._job
        namespace: dict[str, Any] = {"__name__": "__main__", **self._globals[rank]}
        try:
            exec(self._program.code, namespace)
        except Stopped:
            pass
        except SystemExit as stop:
            if stop.code not in (None, 0):
                job.stop(Outcome.ABORTED)
        except _BROKEN as error:
            job.stop(Outcome.INVALID, f"{type(error).__name__}: {error}")
        except Exception as error:
            job.stop(Outcome.ABORTED, f"{type(error).__name__}: {error}")

    def _bound(self) -> Callable[[], None]:
        job = self._job
        left = MAX_ITERATIONS

        def iteration() -> None:
            nonlocal left
            if not left:
                job.leave(Outcome.DISCARDED)
            left -= 1

        return iteration

    def _catching(self, rank: int, *types: Any) -> Catching:
        return Catching(self._state.handlers[rank], types)

    def _caught(self) -> None:
        error = sys.exc_info()[1]
        if isinstance(error, _BROKEN):
            self._job.leave(Outcome.INVALID, f"{type(error).__name__}: {error}")


_cluster: Cluster | None = None


def _shared_cluster() -> Cluster:
    global _cluster
    if _cluster is None:
        _cluster = Cluster()
    return _cluster


def _describe(job: Job) -> str:
    return "; ".join(
        f"rank {rank} waits in {call.key}" for rank, call in sorted(job.waiting.items())
    )


def judge(source: str, *, limit: int = 400, seed: int = 0) -> Judgement:
    """Execute a script until it hangs, all valuations are tried, or ``limit`` is reached.

    Raises:
        InvalidProgramError: the script does not compile, or raises a NameError or the like.
    """
    cluster = _shared_cluster()
    try:
        cluster.load(source)
    except SyntaxError as error:
        raise InvalidProgramError(f"SyntaxError: {error}") from error
    outcomes: Counter[Outcome] = Counter()

    def hangs(chooser: Chooser) -> str | None:
        job = cluster.execute(chooser)
        outcome = job.outcome
        assert outcome is not None
        outcomes[outcome] += 1
        if outcome is Outcome.INVALID:
            raise InvalidProgramError(job.reason)
        return _describe(job) if outcome is Outcome.DIVERGENT else None

    def divergent(stuck: str) -> Judgement:
        return Judgement("divergent", outcomes.total(), False, stuck, outcomes)

    sampled = Sampled(seed)
    for _ in range(min(_FIRST_SAMPLES, limit)):
        sampled.restart()
        if (stuck := hangs(sampled)) is not None:
            return divergent(stuck)
    systematic = Systematic()
    for _ in range(limit // 2):
        if (stuck := hangs(systematic)) is not None:
            return divergent(stuck)
        if not systematic.advance():
            return Judgement("aligned", outcomes.total(), True, "", outcomes)
    while outcomes.total() < limit:
        sampled.restart()
        if (stuck := hangs(sampled)) is not None:
            return divergent(stuck)
    return Judgement("aligned", outcomes.total(), False, "", outcomes)
