"""Loaders that give each rank a part of the data, and means over such a part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import Scope, expressions_in, nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of, place_of
from distlint.rules.data._shards import own_shard_of
from distlint.rules.gradients._flow import (
    Flow,
    places_bound,
    used_by_callers,
    used_by_one,
)
from distlint.rules.gradients._own_decisions import decided_by_each
from distlint.rules.setup._order import last_of, tests_around
from distlint.rules.training import (
    LOADER,
    Made,
    draws_from,
    evaluates,
    is_evaluation,
    loaders,
    loops_around,
    samplers,
)

_NUMBER_OF = frozenset({"float", "round", "int"})
_MEANS = frozenset({"mean", "fmean", "nanmean", "average"})
_COLLECTS = frozenset(
    {
        "stack", "cat", "concat", "concatenate", "hstack", "tensor", "as_tensor", "Tensor", "array",
        "asarray", "FloatTensor",
    }
)  # fmt: skip
"""Functions that make one array of what a list holds."""

_NAMED = re.compile(r"load(er)?s?$|(^|_)dl$")
"""What a variable is called that holds a loader."""

_FILLS = frozenset({"append", "extend"})


class Shards:
    """The loaders of a module that go through a part of the data on each rank."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._made = {loader.call: loader for loader in loaders(objects)}
        self._drawn = {
            loader.call
            for sampler in samplers(objects)
            for loader in self._made.values()
            if draws_from(loader, sampler)
        }
        self._drawn |= {
            loader.call for loader in self._made.values() if own_shard_of(loader) is not None
        }

    def __contains__(self, place: tuple[ir.Expr, Point]) -> bool:
        """Is an expression such a loader, also one that another file makes?"""
        return any(self._there(each)._is_one(each) for each in self._objects.origins(*place))

    def goes_over(self, iterable: ir.Expr, at: Point) -> bool:
        """Does a loop go through such a loader, itself or by ``enumerate(bar)`` of a ``tqdm``?"""
        inner = inner_of(iterable)
        return any(
            place in self
            for place in (
                (iterable, at),
                (inner, at),
                *(
                    (inner_of(origin.node), origin.point)
                    for origin in self._objects.origins(inner, at)
                    if isinstance(origin.node, ir.Call) and not origin.attributes
                ),
            )
        )

    def _there(self, origin: Origin) -> Shards:
        """The loaders of the file that a value comes from."""
        there = self._objects.at(origin.point)
        return self if there is self._objects else shards_of(there)

    def _is_one(self, origin: Origin) -> bool:
        if origin.call in self._drawn:
            return True
        given = self._given(origin)
        if given is None:
            return False
        made = self._objects.origins(given, origin.point)
        name = last_of(given.func if isinstance(given, ir.Call) else given)
        return any(
            each.site is not None and self._objects.is_call_to(each.site, LOADER) for each in made
        ) or (bool(_NAMED.search(name)) and all(map(self._is_unknown, made)))

    def _given(self, origin: Origin) -> ir.Expr | None:
        """What a call that shards loaders was given for a loader that it returns."""
        call = origin.node
        if not isinstance(call, ir.Call) or origin.attributes:
            return None
        entry = self._objects.catalogue.lookup(
            self._objects.called(CallSite(call, origin.point)) or "?"
        )
        if entry is None or entry.returns is None or LOADER not in (entry.returns.converts or ()):
            return None
        index = origin.item or 0
        return call.args[index].value if index < len(call.args) else None

    def made(self, node: ir.Expr, point: Point) -> list[Made]:
        """The calls that make such a loader, as far as they are in sight."""
        return [
            made
            for origin in self._objects.origins(node, point)
            for made in self._there(origin)._made_as(origin)
        ]

    def _made_as(self, origin: Origin) -> Iterator[Made]:
        given = self._given(origin)
        there = self._objects.origins(given, origin.point) if given is not None else ()
        for call in (origin.call,) if origin.call in self._drawn else (e.call for e in there):
            if call in self._made:
                yield self._made[call]

    def _is_unknown(self, origin: Origin) -> bool:
        """Is it made by code that is not in sight, so that only its name says what it is?"""
        node = origin.node
        return isinstance(node, ir.Name) or (
            isinstance(node, ir.Call) and not self._objects.called(CallSite(node, origin.point))
        )


@lru_cache(maxsize=32)
def shards_of(objects: Objects) -> Shards:
    """The sharded loaders of a module, found once."""
    return Shards(objects)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the part of one rank, and where it is taken for that of all."""

    point: Point
    used: Point
    by_each: bool
    """Does each rank decide by its own, and not one for all?"""


def means_of_shards(objects: Objects) -> Iterator[Mean]:
    """Means over a part of the data in an evaluation, by which one rank or each one decides.

    One for each total, for each statement, and for each decision of all ranks.
    """
    shards, told = shards_of(objects), set[tuple[int, Path]]()
    decided = set[Point]()
    for point in sorted(objects.points, key=lambda each: each.statement.site):
        for node in quotients(point.statement):
            total = _averaged(objects, shards, node, point)
            if total is None or (id(point.scope), total) in told:
                continue
            flow = Flow(objects, point.scope, total)
            if flow.meets():
                continue
            by_each = decided_by_each(flow, node)
            used = by_each or flow.used_by_one(node)
            if used is not None and used not in decided:
                decided |= {used} if by_each else set()
                told.add((id(point.scope), total))
                yield Mean(point, used, by_each is not None)
                break


def used_at(objects: Objects, site: CallSite) -> Point | None:
    """Where one rank counts on the value of a call."""
    statement = site.point.statement
    if isinstance(statement, ir.Assign):
        return used_by_one(objects, site)
    if isinstance(statement, ir.Return):
        return used_by_callers(objects, site.point.scope)
    return site.point if any(map(asks_rank, tests_around(site.point))) else None


def quotients(statement: ir.Stmt) -> Iterator[ir.Expr]:
    """The expressions of a statement, with ``total / count`` for ``total /= count``."""
    for node in nodes_of(statement):
        if isinstance(node, ir.Expr):
            yield node
    if isinstance(statement, ir.AugAssign) and statement.op == "/":
        yield ir.Binary("/", statement.target, statement.value)


def _averaged(objects: Objects, shards: Shards, node: ir.Expr, point: Point) -> Path | None:
    """The sum, or the collected values, of which an expression is the mean over one rank's part."""
    if isinstance(node, ir.Binary) and node.op == "/":
        total = total_of(node.left)
        if total is not None:
            return total if _is_local(objects, shards, total, node.right, point) else None
        values = _collection(_summed(node.left))
        count = node.right.args if isinstance(node.right, ir.Call) else ()
        if path_of(getattr(node.right, "func", None)) != ("len",) or not count:
            return None
        if _collection(count[0].value) != values and (count[0].value, point) not in shards:
            return None
    else:
        values = _collection(_mean_over(objects, node, point))
    is_own = values is not None and _is_collected(objects, shards, values, point)
    return values if is_own else None


def _summed(node: ir.Expr) -> ir.Expr | None:
    """The values in ``sum(values)``."""
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "sum" and len(node.args) == 1:
        return node.args[0].value
    return None


def _mean_over(objects: Objects, node: ir.Expr, point: Point) -> ir.Expr | None:
    """The values in ``values.mean()`` or ``np.mean(values)``."""
    if not isinstance(node, ir.Call) or ir.last_name(node.func) not in _MEANS:
        return None
    if isinstance(node.func, ir.Attribute) and not node.args:
        return node.func.value
    is_function = objects.names.dotted(node.func, point.scope) is not None
    return node.args[0].value if is_function and len(node.args) == 1 else None


def _collection(node: ir.Expr | None) -> Path | None:
    """The variable in ``values``, ``torch.stack(values)`` or ``values.cpu()``."""
    while isinstance(node, ir.Call):
        if ir.last_name(node.func) in _COLLECTS and node.args:
            node = node.args[0].value
        elif isinstance(node.func, ir.Attribute) and not node.args:
            node = node.func.value
        else:
            return None
    return place_of(node)


def _filled(statement: ir.Stmt) -> Iterator[Path]:
    held: list[ir.Expr] = []
    if isinstance(statement, ir.Assign):
        held = [each.value for each in statement.targets if isinstance(each, ir.Subscript)]
    elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
        func = statement.value.func
        if isinstance(func, ir.Attribute) and func.attr in _FILLS:
            held = [func.value]
    yield from filter(None, map(place_of, held))


def _grown(statement: ir.Stmt) -> Iterator[Path]:
    """The same, and what ``found += more`` or ``found = torch.cat([found, more])`` makes longer."""
    yield from _filled(statement)
    if isinstance(statement, ir.AugAssign) and statement.op.startswith("+"):
        yield from places_bound(statement.target)
    elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Call):
        if ir.last_name(statement.value.func) in _COLLECTS | {"append"}:
            given = {
                place_of(each) for arg in statement.value.args for each in expressions_in(arg.value)
            }
            for target in statement.targets:
                yield from (each for each in places_bound(target) if each in given)


def collected_in(objects: Objects, shards: Shards, name: Path, point: Point) -> bool:
    """Does a variable collect values of one rank's part, also as it is joined with the next ones?

    For what is no mean, so that it makes no difference whether something is added to numbers.
    """
    return _is_collected(objects, shards, name, point, _grown)


def _is_collected(
    objects: Objects,
    shards: Shards,
    name: Path,
    point: Point,
    filled: Callable[[ir.Stmt], Iterator[Path]] = _filled,
) -> bool:
    """Are values put into a variable in a loop over one rank's part, which is over at a place?"""
    around = {here.owner for here in point.around}
    return any(
        loop not in around
        and shards.goes_over(loop.iterable, at)
        and _evaluates(loop, at)
        and is_of_items(objects, loop, name, point)
        for loop, at in _filling(objects, point.scope, name, filled)
    )


def is_of_items(objects: Objects, loop: ir.For, name: Path, point: Point) -> bool:
    """Does a value come of the batches of a loop, and not of a clock?"""
    return Flow(objects, point.scope, name).comes_from(ir.names_bound(loop.target))


def _filling(
    objects: Objects, scope: Scope, name: Path, filled: Callable[[ir.Stmt], Iterator[Path]]
) -> Iterator[tuple[ir.For, Point]]:
    """The loops in which a function puts values into a list, or into places of an array."""
    for point in objects.points_in(scope):
        if any(place[: len(name)] == name for place in filled(point.statement)):
            yield from _loops_at(point)


def _loops_at(point: Point) -> Iterator[tuple[ir.For, Point]]:
    """The ``for`` loops around a statement, and their places."""
    for loop in loops_around(point):
        if isinstance(loop, ir.For):
            depth = next(n for n, h in enumerate(point.around) if h.owner is loop)
            yield loop, Point(point.scope, point.around[:depth])


def total_of(node: ir.Expr) -> Path | None:
    """The variable in ``total``, ``total.item()``, ``float(total)`` or ``100 * total``."""
    while True:
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and not node.args:
            node = node.func.value
        elif isinstance(node, ir.Call) and ir.last_name(node.func) in _NUMBER_OF and node.args:
            node = node.args[0].value
        elif isinstance(node, ir.Binary) and node.op == "*" and isinstance(node.left, ir.Literal):
            node = node.right
        elif isinstance(node, ir.Binary) and node.op == "*" and isinstance(node.right, ir.Literal):
            node = node.left
        else:
            return place_of(node)


def _is_local(objects: Objects, shards: Shards, total: Path, count: ir.Expr, point: Point) -> bool:
    """Is a sum of one rank divided by the number of batches, or samples, of that rank?"""
    loops = {loop.site: (loop, at) for loop, at in adding(objects, point.scope, total)}
    for loop, at in loops.values():
        if not shards.goes_over(loop.iterable, at):
            continue
        if not _evaluates(loop, at) or not is_of_items(objects, loop, total, point):
            continue
        if isinstance(count, ir.Call) and path_of(count.func) == ("len",) and count.args:
            return (count.args[0].value, point) in shards
        counted = total_of(count)
        return counted is not None and any(
            other is loop for other, _ in adding(objects, point.scope, counted)
        )
    return False


def adding(objects: Objects, scope: Scope, place: Path) -> Iterator[tuple[ir.For, Point]]:
    """The loops in which a function adds to a variable."""
    for point in objects.points_in(scope):
        statement = point.statement
        if isinstance(statement, ir.AugAssign) and place_of(statement.target) == place:
            if statement.op.startswith("+"):
                yield from _loops_at(point)


def summed_in(objects: Objects, scope: Scope, path: Path) -> list[ir.For]:
    """The loops in which a function adds to a variable, or ``self.total``."""
    return [
        loop
        for point in objects.points_in(scope)
        if isinstance(point.statement, ir.AugAssign)
        and place_of(point.statement.target) == path
        and point.statement.op.startswith("+")
        for loop in loops_around(point)
        if isinstance(loop, ir.For)
    ]


def inner_of(iterable: ir.Expr) -> ir.Expr:
    """The loader in ``enumerate(tqdm(loader))``."""
    while isinstance(iterable, ir.Call) and iterable.args:
        iterable = iterable.args[0].value
    return iterable


def _evaluates(loop: ir.For, at: Point) -> bool:
    if any(ir.last_name(call.func) == "backward" for call in _calls_in(loop.body)):
        return False
    return evaluates(at) or any(map(is_evaluation, ir.tokens_of(loop.iterable)))


def _calls_in(block: ir.Block) -> Iterator[ir.Call]:
    return (node for node in ir.own_nodes(block) if isinstance(node, ir.Call))
