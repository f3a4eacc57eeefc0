"""Where a projection stands: its continuation, its frame, and what its variables hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.symbolic.values import Unknown, Value
from distlint.catalogue.entries import Agreement

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.continuations import Continuation

Owner = int | str | ir.Class | Value
"""The number of a scope or an object, a class, an unknown object, or the kind of a fact."""

Key = tuple[Owner, Any]
"""A variable: an owner and a name; or a fact, and what it is about."""

Iterations = tuple[int, ...]

LoopPlace = tuple[int, int, Iterations]
"""A loop that is being run: its site, the scope, and the iterations of the loops around it."""

Inner = tuple[str | tuple[int, int, int], ...]
"""Where in the statement at hand: turns of comprehensions (site, level, index), repeated calls."""

ResultKey = tuple[Any, ...]
"""A call or a collective of the statement at hand: its site, and what tells it from others."""

LoopIn = tuple[ir.Function | str, int, Iterations]
"""A loop on any rank: the function or the key of the module, the site, the iterations around."""

Place = tuple[ResultKey, str, int, Iterations]
"""A collective on the path of a rank: its key, the module, the scope and the iterations."""

GroupKey = str | tuple[Any, ...]
"""A group of ranks, the same on all of its members."""

Question = Unknown | tuple[str | None, Unknown]
"""An unknown that may be assumed true or false; for rank-local ones, with the side."""

Known = dict[Question, bool]
"""What is assumed about unknowns."""


class Stop(Enum):
    """Why a machine stops, if it is not at a collective."""

    END = "end"
    """The rank has ended as it should."""
    ABORT = "abort"
    """The rank has failed, and so has the job."""
    JOIN = "join"
    """The function has returned in which a machine for all ranks was started."""


class Journal(dict[Key, Value]):
    """A copy of the variables that notes which of them are written, in order."""

    __slots__ = ("written",)

    def __init__(self, variables: dict[Key, Value]) -> None:
        super().__init__(variables)
        self.written: dict[Key, None] = {}

    def __setitem__(self, key: Key, value: Value) -> None:
        self.written[key] = None
        super().__setitem__(key, value)

    def __delitem__(self, key: Key) -> None:
        self.written[key] = None
        super().__delitem__(key)

    def pop(self, key: Key, default: Any = None) -> Any:
        self.written[key] = None
        return super().pop(key, default)

    def update(self, items: Mapping[Key, Value]) -> None:  # type: ignore[override]
        self.written.update(dict.fromkeys(items))
        super().update(items)


@dataclass(slots=True, eq=False)
class Frame:
    """One activation of a function, or the body of a module (``function`` is None)."""

    scope: int
    module: Module
    function: ir.Function | None
    depth: int
    outer: Frame | None = None
    """The frame in which the function was defined."""
    bound: Value | None = None
    """``self`` of a method."""
    turns: Iterations = ()
    """Which turns of which loops of its callers it was called in."""


class State:
    """A projection between two steps; ``store`` is owned and copied when states fork."""

    __slots__ = ("frame", "it", "k", "results", "store")

    def __init__(
        self,
        k: Continuation | None,
        frame: Frame,
        it: Iterations,
        results: dict[ResultKey, Value],
        store: dict[Key, Value],
    ) -> None:
        self.k = k
        self.frame = frame
        self.it = it
        self.results = results
        self.store = store

    def copy(self) -> State:
        return State(self.k, self.frame, self.it, dict(self.results), dict(self.store))


OPAQUE = "opaque"
"""Kind of a call that may communicate and is not looked into."""


@dataclass(slots=True, eq=False)
class Event:
    """A collective that a rank is about to issue."""

    name: str
    """Dotted name in the catalogue."""
    kind: str
    match: tuple[str, ...]
    """What has to be the same on all members, beside the group."""
    members: frozenset[int]
    group: GroupKey
    """Key of the group, the same on all members."""
    group_text: str
    certain: bool
    """Are the members known? If not, only rank-local decisions can tell them apart."""
    site: int
    module: str
    result_key: ResultKey
    frame: Frame
    root: Value | None = None
    agree: tuple[tuple[str, Value], ...] = ()
    payload: ir.Expr | None = None
    payload_value: Value | None = None
    result: str = "none"
    result_target: ir.Expr | None = None
    value: Value | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    is_posted: bool = False
    """Does the rank go on without waiting for the others?"""

    arguments: tuple[object, ...] = ()
    """What this rank passes for the root and for what has to agree, where that is concrete."""

    once: Key | None = None
    """Variable that says that the result is cached until a method of ``once_until`` is called."""
    once_until: tuple[str, ...] = ()

    @property
    def op(self) -> str:
        last = self.name.rsplit(".", 1)[-1]
        return _SPOKEN.get(last, last)


_SPOKEN = {"__call__": "forward", "__iter__": "iteration"}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A call with an argument that has to be the same on all ranks, and is rank-local."""

    agreement: Agreement
    param: str
    site: int
    module: str


class BranchUndecided(Exception):
    """A condition that has to be decided before the projection can go on."""

    def __init__(self, atom: Unknown, key: Question) -> None:
        self.atom = atom
        self.key = key
        self.within: list[ResultKey] = []
        """Keys of the results of the calls that were being evaluated, the innermost first."""


class RankDependent(Exception):
    """From here on the ranks have to be told apart."""


class CollectiveReached(Exception):
    """An expression has come to a collective."""

    def __init__(self, event: Event) -> None:
        self.event = event


class CallRequested(Exception):
    """An expression calls a function of the project, which runs before the expression goes on."""

    def __init__(
        self, frame: Frame, body: ir.Block, key: ResultKey, value: Value | None = None
    ) -> None:
        self.frame = frame
        self.body = body
        self.key = key
        self.value = value
        """Result that replaces the returned one, such as the object under construction."""


class Exit(Exception):
    """The process ends here: ``ok`` tells success from failure.

    ``at_once``: nothing is unwound, no ``finally`` runs (``os._exit``).
    """

    def __init__(self, ok: bool, site: int, at_once: bool) -> None:
        self.ok = ok
        self.site = site
        self.at_once = at_once


class PathPruned(Exception):
    """This path is not explored further: a loop beyond the bound, or an impossible state."""


class OverBudget(Exception):
    """The root takes more steps than it is worth."""
