"""Two ranks that do different things next, and how they got there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.joined_values import is_joined
from distlint.analyzer.symbolic.state import OPAQUE, Event, Known, Place, Question
from distlint.analyzer.symbolic.strategies import UNDER, rules_out_strategies
from distlint.analyzer.symbolic.values import Unknown

MANY_TRIES = 100
"""Choices that are undone in search of a consistent path."""

WAY = "way"
"""Operator of the atoms that say on which of two ways a state was reached."""


@dataclass(frozen=True, slots=True)
class PathHistory:
    """How a pair of ranks got to where it is: what was decided and met, linked to what was before.

    Where two ways have been joined, ``split`` is the unknown that they had decided differently.
    """

    before: PathHistory | None = None
    decided: tuple[tuple[Question, bool], ...] = ()
    met: int | None = None
    """Site of a common collective."""
    renamed: tuple[Place, Place] | None = None
    """A collective that the second rank has met elsewhere than the first."""
    split: Question | None = None
    otherwise: PathHistory | None = None
    """The way on which ``split`` is false."""
    length: int = 0
    """How many decisions it takes, at least."""
    is_own: bool = False
    """Has a rank decided something by what it alone has, such as a failure or a random number?"""

    def assume(self, decided: Iterable[tuple[Question, bool]]) -> PathHistory:
        decided = tuple(decided)
        if not decided:
            return self
        is_own = self.is_own or any(isinstance(question, tuple) for question, _ in decided)
        return PathHistory(self, decided, length=self.length + len(decided), is_own=is_own)

    def meet(self, site: int, renamed: tuple[Place, Place] | None = None) -> PathHistory:
        return PathHistory(self, met=site, renamed=renamed, length=self.length, is_own=self.is_own)

    def join(self, split: Question, otherwise: PathHistory) -> PathHistory:
        """This way where an unknown is true, and another one where it is false."""
        length = min(self.length, otherwise.length)
        is_own = self.is_own or otherwise.is_own
        return PathHistory(self, split=split, otherwise=otherwise, length=length, is_own=is_own)

    def ways(self) -> Iterator[tuple[list[PathHistory], Known]]:
        """Ways back to the start that agree with themselves, and what is decided on them.

        Where ways have been joined at a loss, a choice may contradict what came later.
        """
        steps: list[PathHistory] = []
        found: Known = {}
        choices: list[tuple[PathHistory, int, Known]] = []
        tries = MANY_TRIES
        is_under_strategy = False
        step: PathHistory | None = self
        while step is not None:
            agrees = all(
                found.get(key, outcome) is outcome
                and not (is_under_strategy and rules_out_strategies(key, outcome))
                for key, outcome in step.decided
            )
            goes_on = agrees or not (choices and tries)
            if goes_on:
                steps.append(step)
                for key, outcome in reversed(step.decided):
                    found.setdefault(key, outcome)
                    is_under_strategy = is_under_strategy or _is_under(key)
                step = step.back(found, len(steps), choices)
                if step is None:
                    yield steps, found
            if (step is None or not goes_on) and choices and tries:
                tries -= 1
                step, length, known = choices.pop()
                steps, found = steps[:length], dict(known)
                is_under_strategy = any(map(_is_under, found))

    def back(
        self, found: Known, length: int, choices: list[tuple[PathHistory, int, Known]]
    ) -> PathHistory | None:
        """What was before; where two ways were joined and either will do, the other is noted."""
        if self.before is None or self.otherwise is None or self.split is None:
            return self.before
        outcome = found.get(self.split)
        if outcome is None:
            outcome = self.before.length < self.otherwise.length
            choices.append((self.otherwise if outcome else self.before, length, dict(found)))
        return self.before if outcome else self.otherwise


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two ranks that do different things next: ``differs`` names an argument, or is empty."""

    ranks: tuple[int, int]
    events: tuple[Event | None, Event | None]
    assumed: Known
    serial: int
    differs: str = ""
    common: int = -1
    """Site of the last common collective."""
    names: dict[Place, Place] = field(default_factory=dict)
    """Collectives that the second rank has met elsewhere than the first, by the second's place."""
    past: PathHistory = field(default_factory=PathHistory)
    forced: dict[tuple[str, int], bool] = field(default_factory=dict)
    """How tests of the rank, by module and site, are to come out on all ranks."""

    @classmethod
    def on_ways(
        cls,
        past: PathHistory,
        ranks: tuple[int, int],
        events: tuple[Event | None, Event | None],
        differs: str,
    ) -> Iterator[Divergence]:
        """A divergence at the end of each way that leads there."""
        for steps, found in past.ways():
            met = [step.met for step in steps if step.met is not None]
            names = {step.renamed[0]: step.renamed[1] for step in reversed(steps) if step.renamed}
            assumed = {key: truth for key, truth in found.items() if not _is_way(key)}
            common = met[0] if met else -1
            yield cls(ranks, events, assumed, len(met), differs, common, names, past)

    def others(self) -> Iterator[Divergence]:
        """The same divergence, on other ways that lead there."""
        return islice(Divergence.on_ways(self.past, self.ranks, self.events, self.differs), 1, None)

    @property
    def is_open(self) -> bool:
        """Is one of them a call that is not looked into? It may hold what the other rank does."""
        return any(event is not None and event.kind == OPAQUE for event in self.events)

    @property
    def is_of_joined_values(self) -> bool:
        """Was something decided, for all ranks, about what several ways have left?"""
        return any(isinstance(key, Unknown) and is_joined(key) for key in self.assumed)

    @property
    def kind(self) -> tuple[object, ...]:
        """What makes two divergences alike: the last common collective, and where the ranks are.

        One that rests on what ranks have counted is no more refuted by others than they by it, and
        one that rests on a failure proves nothing about those that happen without.
        """
        sites = [event and (event.module, event.site) for event in self.events]
        atoms = (key[1].atoms for key in self.assumed if isinstance(key, tuple))
        counted = any(each.op == v.CARRIED for found in atoms for each in found)
        failed = any(
            outcome and isinstance(key, tuple) and key[1].op == "exception"
            for key, outcome in self.assumed.items()
        )
        return (*sites, self.differs, self.common, counted, failed)

    @property
    def settings(self) -> frozenset[tuple[Question, bool]]:
        """What was decided for all ranks, but for the turns of loops."""
        return frozenset(
            (key, outcome)
            for key, outcome in self.assumed.items()
            if isinstance(key, Unknown) and key.op != "trip"
        )


def _is_under(key: Question) -> bool:
    return isinstance(key, Unknown) and key.op == UNDER


def _is_way(key: Question) -> bool:
    atom = key[1] if isinstance(key, tuple) else key
    return isinstance(atom, Unknown) and atom.op == WAY
