"""Objects that go through a loader in its place: a prefetcher of the project, or of a library.

class Prefetcher:                          # a loop over a Prefetcher(loader)
    def __init__(self, loader):            # is one over the loader
        self.loader = loader

    def __iter__(self):
        for batch in self.loader:
            yield batch.cuda(non_blocking=True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import Holder
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.training import goes_through_argument

_GOES = frozenset({"__iter__", "__next__"})
_NESTED = 3
"""How many calls what is gone through may be wrapped in: ``enumerate(tqdm(loader))``."""


def wrapping(holders: Iterable[Holder]) -> Iterator[Holder]:
    """The objects that are made of one that is held, and go through it."""
    for holder in holders:
        objects = holder.objects
        through = _going_through(holder)
        for call, point in objects.nodes(ir.Call):
            site = CallSite(call, point)
            if objects.callee(site) in through or goes_through_argument(objects, site):
                if any(holder.is_held(argument.value, point) for argument in call.args):
                    yield Holder(objects, (call, ()))
        function = holder.thing[0]
        if holder.given_at is not None and holder.giver is not None:
            if isinstance(function, ir.Function) and function.name == "__init__":
                if objects.module.class_of(function) in through:
                    yield Holder(holder.giver.objects, (holder.given_at.call, ()))


def _going_through(holder: Holder) -> list[ir.Class]:
    """The classes of a file that go through an object which it holds when they are gone through."""
    return [
        cls
        for cls in holder.objects.module.classes.values()
        if not _GOES.isdisjoint(cls.methods)
        and any(
            _goes_through(holder, method)
            for method in cls.methods.values()
            if _is_run_by(method, cls)
        )
    ]


def _goes_through(holder: Holder, method: ir.Function) -> bool:
    scope = holder.objects.scope_of(method)
    return scope is not None and any(
        holder.is_held(node, point)
        for point in holder.objects.points_in(scope)
        for node in goes_over(point.statement)
    )


def _is_run_by(method: ir.Function, cls: ir.Class) -> bool:
    """Does going through an object of the class run a method, by its name?"""
    return method.name in _GOES or any(
        method.name in cls.methods[name].tokens for name in _GOES if name in cls.methods
    )


def goes_over(statement: ir.Stmt) -> Iterator[ir.Expr]:
    """What a statement goes through: in a loop, by ``iter``, ``yield from``, a comprehension."""
    if isinstance(statement, ir.For):
        yield from _inside(statement.iterable, _NESTED)
    for node in nodes_of(statement):
        if isinstance(node, ir.Comprehension):
            yield from (each for _, iterable, _ in node.clauses for each in _inside(iterable, 1))
        elif isinstance(node, ir.Yield) and node.delegated and node.value is not None:
            yield from _inside(node.value, 1)
        elif isinstance(node, ir.Call) and ir.last_name(node.func) == "iter":
            yield from (argument.value for argument in node.args[:1])
        elif isinstance(node, ir.Call) and ir.last_name(node.func) == "__iter__":
            yield from (each for each in ir.children(node.func) if isinstance(each, ir.Expr))


def _inside(node: ir.Expr, depth: int) -> Iterator[ir.Expr]:
    yield node
    if isinstance(node, ir.Call) and depth:
        for argument in node.args:
            yield from _inside(argument.value, depth - 1)
