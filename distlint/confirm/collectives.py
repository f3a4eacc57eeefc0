"""Calls of plain torch that stand for the collectives of a replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.state import Event
from distlint.confirm.observed import Visit

REDUCTIONS = "torch.distributed.ReduceOp."
SUM = "dist.ReduceOp.SUM"

OBJECTS = ("_object", "_object_list")

APART = 10
"""By how many elements tensors of different shapes differ."""

Choose = Callable[[list[list[Any]]], str]
"""Writes an expression of what each rank has at each visit."""


class CannotWrite(Exception):
    """There is no script for a finding; the text says why."""


class Code(str):
    """A value that is shown as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Standin:
    """A collective of torch; what differs between ranks is an expression."""

    kind: str
    """What it is called as, or its kind in the catalogue; those of frameworks are reductions."""
    size: str
    """Number of elements, which tells collectives from each other that must not meet."""
    root: str
    """Source or destination."""
    members: str
    """The tuple of ranks that take part."""
    count: int
    """How many these are."""
    group: str
    """The argument, or "" for all ranks."""
    op: str
    """The argument, or "" for a sum."""

    @property
    def call(self) -> str:
        return _CALLS.get(self.kind, _all_reduce)(self)

    @property
    def tensor(self) -> str:
        return f"torch.zeros({self.size})"

    @property
    def tensors(self) -> str:
        return f"[{self.tensor} for _ in range({self.count})]"

    @property
    def at_root(self) -> str:
        """A tensor of each member on the root, and nothing elsewhere."""
        root = f"({self.root})" if " if " in self.root else self.root
        return f"{self.tensors} if rank == {root} else None"


def _listed(name: str, *arguments: str) -> str:
    return f"dist.{name}({', '.join(filter(None, arguments))})"


def _all_reduce(of: Standin) -> str:
    return _listed("all_reduce", of.tensor, of.op, of.group)


def _barrier(of: Standin) -> str:
    return _listed("barrier", of.group)


def _broadcast(of: Standin) -> str:
    return _listed("broadcast", of.tensor, f"src={of.root}", of.group)


def _reduce(of: Standin) -> str:
    return _listed("reduce", of.tensor, f"dst={of.root}", of.op, of.group)


def _all_gather(of: Standin) -> str:
    return _listed("all_gather", of.tensors, of.tensor, of.group)


def _gather(of: Standin) -> str:
    return _listed("gather", of.tensor, of.at_root, f"dst={of.root}", of.group)


def _scatter(of: Standin) -> str:
    return _listed("scatter", of.tensor, of.at_root, f"src={of.root}", of.group)


def _new_group(of: Standin) -> str:
    return _listed("new_group", of.members)


def _broadcast_objects(of: Standin) -> str:
    return _listed("broadcast_object_list", "[rank]", f"src={of.root}", of.group)


def _gather_objects(of: Standin) -> str:
    return _listed("all_gather_object", f"[None] * {of.count}", "rank", of.group)


_CALLS: dict[str, Callable[[Standin], str]] = {
    "barrier": _barrier,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "all_gather": _all_gather,
    "gather": _gather,
    "scatter": _scatter,
    "group_creation": _new_group,
    "broadcast_object_list": _broadcast_objects,
    "all_gather_object": _gather_objects,
}


@dataclass
class Collectives:
    """The collectives of one script: what must not meet in the replay does not meet there."""

    divergence: Divergence
    ranks: int
    sizes: dict[tuple[str, ...], int] = field(default_factory=dict)
    groups: dict[tuple[int, ...], None] = field(default_factory=dict)
    """The groups that are made at the start."""
    passed: dict[object, int] = field(default_factory=dict)
    """The values of the argument in which the ranks differ, numbered."""

    def call(self, found: Sequence[Mapping[Visit, Sequence[Event]]], choose: Choose) -> str:
        """The call that stands for what was issued at a site by each rank."""
        visits = [[*chain.from_iterable(mine.values())] for mine in found]
        events = [*chain.from_iterable(visits)]
        kind = events[0].kind
        if any(event.kind != kind for event in events):
            raise CannotWrite("one call is different collectives")
        is_creation = kind == "group_creation"
        everyone = tuple(range(self.ranks))

        def chosen(of: Callable[[Event, int], object]) -> str:
            return choose([[of(event, rank) for event in mine] for rank, mine in enumerate(visits)])

        members = chosen(lambda event, _: tuple(sorted(event.members)))
        if is_creation:
            members = chosen(lambda event, _: everyone[: self.ranks - self.variant(event)])
        sets = {tuple(sorted(event.members)) for event in events}
        is_apart = not is_creation and sets != {everyone}
        if is_apart:
            self.groups.update(dict.fromkeys(sorted(sets)))
        reduction = chosen(lambda event, _: Code(_reduction(event)))
        return Standin(
            kind=_kind_in_torch(events[0]),
            size=chosen(lambda event, _: self.size(event)),
            root=chosen(_root),
            members=members,
            count=max(map(len, sets)),
            group=f"group=groups[{members}]" if is_apart else "",
            op="" if reduction == SUM else f"op={reduction}",
        ).call

    def size(self, event: Event) -> int:
        """How many elements are sent: most at the source, for others have no room for them."""
        size = self.sizes.setdefault(event.match, len(self.sizes) + 1)
        if self.divergence.differs in {"op", "root"}:
            return size
        return size + APART * (self.ranks - self.variant(event)) * self.is_at_odds(event)

    def variant(self, event: Event) -> int:
        """The number of the value that the ranks have to agree on and do not; 0 if it is none."""
        names = [name for name, _ in event.agree]
        if not self.is_at_odds(event) or self.divergence.differs not in names:
            return 0
        passed = event.arguments[1 + names.index(self.divergence.differs)]
        number = self.passed.setdefault(passed, len(self.passed))
        return min(number, self.ranks - 1)

    def is_at_odds(self, event: Event) -> bool:
        """Is it one in which the ranks pass different arguments in the end?"""
        first, second = self.divergence.events
        return bool(self.divergence.differs) and any(
            each is not None and each.match == event.match for each in (first, second)
        )


def _kind_in_torch(event: Event) -> str:
    module, _, name = event.name.rpartition(".")
    if module != "torch.distributed":
        return ""
    return name if name in _CALLS else "" if name.endswith(OBJECTS) else event.kind


def _reduction(event: Event) -> str:
    """How a collective reduces, in a script."""
    for name, value in event.agree:
        if name == "op" and isinstance(value, v.External) and value.name.startswith(REDUCTIONS):
            return f"dist.ReduceOp.{value.name.removeprefix(REDUCTIONS)}"
    return SUM


def _root(event: Event, rank: int) -> object:
    value = event.root
    if isinstance(value, v.PerRank):
        return value.values[rank]
    return value.value if isinstance(value, v.Const) else 0
