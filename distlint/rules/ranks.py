"""Which values of a file are the rank of the process: among all, or among those of its node."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_read, environment_writes
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.entries import Entry

_INIT = "torch.distributed.init_process_group"
_COUNT = ("torch.cuda.device_count",)
_CONVERSIONS = ("int", "str")
_MAX_CONVERSIONS = 4


def values(
    objects: Objects, node: ir.Expr, point: Point, depth: int = _MAX_CONVERSIONS
) -> Iterator[Origin]:
    """Where a number comes from, without constants; ``int(text)`` is what the text is."""
    return _numbers(objects, objects.origins(node, point), depth)


def _numbers(
    objects: Objects, origins: Iterable[Origin], depth: int = _MAX_CONVERSIONS
) -> Iterator[Origin]:
    for origin in origins:
        call = origin.call
        if isinstance(origin.node, ir.Literal):
            continue
        if call is not None and depth and path_of(call.func) in [(c,) for c in _CONVERSIONS]:
            if len(call.args) == 1 and not call.args[0].star:
                yield from values(objects, call.args[0].value, origin.point, depth - 1)
                continue
        yield origin


_PARSES = frozenset({"parse_args_into_dataclasses", "parse_json_file", "parse_yaml_file"})
"""Methods of parsers that return one object of each dataclass that they were made with."""


def is_read_as(objects: Objects, origin: Origin, scope: str) -> bool:
    """Is a value the rank of this scope, read from a library or from the environment?"""
    return _is_rank(_source(objects, origin), scope)


def is_read_as_size(objects: Objects, origin: Origin, value: str) -> bool:
    """Is a value this number of processes, such as the world size, read from the same?"""
    entry = _source(objects, origin)
    return entry is not None and entry.uniform is not None and entry.uniform.value == value


def is_global_rank(objects: Objects, origin: Origin) -> bool:
    """Is a value the rank among the processes of all nodes?"""
    return is_read_as(objects, origin, "global")


def is_local_rank(objects: Objects, origin: Origin) -> bool:
    """Is a value the number of the process on its node?

    Read from a library, from the environment, from an option that the launcher passes, or computed
    as ``rank % torch.cuda.device_count()``.
    """
    if is_read_as(objects, origin, "local"):
        return True
    made, named = origin.node, origin.attributes
    if isinstance(made, ir.Binary) and made.op == "%" and not named and origin.item is None:
        return every(objects, made.left, origin.point, is_global_rank) and every(
            objects, made.right, origin.point, is_local_count
        )
    if not isinstance(made, ir.Call) or len(named) != 1 or origin.item not in (None, 0):
        return False
    known = objects.catalogue.rank_name(named[0])
    parses = ir.last_name(made.func) in ("parse_args", "parse_known_args")
    return parses and known is not None and (known.scope, known.test) == ("local", None)


def is_rank_variable(objects: Objects, name: str, scope: str) -> bool:
    """Is it the name of a variable in which a launcher gives the rank of this scope?"""
    return _is_rank(objects.catalogue.env(name), scope)


def is_world_size(objects: Objects, origin: Origin) -> bool:
    """Is a value the number of processes of all nodes?"""
    return is_read_as_size(objects, origin, "world_size")


def is_local_count(objects: Objects, origin: Origin) -> bool:
    """Is a value the number of processes, or of GPUs, of this node?"""
    site = origin.site
    return is_read_as_size(objects, origin, "local_world_size") or (
        site is not None and objects.at(site.point).called(site) in _COUNT
    )


def every(
    objects: Objects,
    node: ir.Expr | None,
    point: Point,
    kind: Callable[[Objects, Origin], bool],
) -> bool:
    """Is a number of this kind, wherever it comes from?"""
    found = list(values(objects, node, point)) if node is not None else []
    return bool(found) and all(kind(objects, origin) for origin in found)


def _source(objects: Objects, origin: Origin) -> Entry | None:
    """What the catalogue says about a call, a property or an environment variable."""
    objects = objects.at(origin.point)
    node, catalogue = origin.node, objects.catalogue
    if isinstance(node, ir.Call) and len(origin.attributes) == 1:
        site = CallSite(node, origin.point)
        classes = _parsed(objects, site, origin.item)
        if origin.item is None:
            classes = (*classes, objects.called(site))
        found = (catalogue.member(each, origin.attributes[0]) for each in classes)
        return next((each for each in found if each is not None), None)
    if not isinstance(node, ir.Expr) or origin.item is not None or origin.attributes:
        return None
    if name := environment_read(objects, node, origin.point):
        return catalogue.env(name)
    if not isinstance(node, ir.Call) or node.args:  # of a group, or a dimension of a mesh
        return None
    return catalogue.lookup(objects.called(CallSite(node, origin.point)))


def _parsed(objects: Objects, site: CallSite, item: int | None) -> tuple[str, ...]:
    """The framework classes of what a parser of dataclasses returns, at an index."""
    func = site.call.func
    if not isinstance(func, ir.Attribute) or func.attr not in _PARSES or item is None:
        return ()
    found: list[str] = []
    for parser in objects.origins(func.value, site.point):
        given = parser.call.args[0].value if parser.call and parser.call.args else None
        kinds = given.items if isinstance(given, ir.Display) else (given,)
        kind = kinds[item] if item < len(kinds) else None
        own = objects.module.classes.get(ir.last_name(kind)) if kind is not None else None
        classes = own.bases if own is not None else (kind,)
        dotted = (objects.names.dotted(each, parser.point.scope) for each in classes if each)
        found += [name for name in dotted if name]
    return tuple(found)


def _is_rank(entry: Entry | None, scope: str) -> bool:
    rank = entry.rank if entry is not None else None
    return rank is not None and (rank.scope, rank.test) == (scope, None)


class GlobalRanks:
    """Which numbers are the rank among the processes of all nodes.

    Where a file starts processes itself, a library or the environment may tell the rank on one
    node, or the number of a node. What is made of two numbers and the index of the process, and
    given to the group as the rank, is the global one all the same.
    """

    def __init__(self, objects: Objects, by_launcher: Callable[[Objects], bool]) -> None:
        self.objects = objects
        self.by_launcher = by_launcher
        self._is_launched = by_launcher(objects)

    def cause(self, node: ir.Expr, point: Point) -> Origin | None:
        """Where a number is read or computed, if it is the global rank whatever happens.

        It may be the local one, too, where it would be computed from that otherwise.
        """
        found = list(values(self.objects, node, point))
        computed = [each for each in found if self._is_computed(each)]
        summands = {each for made in computed for each in self._local_part(made)}
        if all(
            each in computed or each in summands or any(self.reads(each)) for each in found
        ) and any(each not in summands for each in found):
            return next(each for each in found if each not in summands)
        return None

    def reads(self, origin: Origin) -> Iterator[tuple[Objects, Origin]]:
        """Where the global rank is read that a value is; nothing if it is something else."""
        if self._is_read(origin):
            yield self.objects.at(origin.point), origin

    def _is_read(self, origin: Origin) -> bool:
        launched = self.by_launcher(self.objects.at(origin.point)) and self._is_launched
        if not (launched or self._group_has_computed):
            return False
        of_group = launched or origin.call is not None
        return of_group and is_read_as(self.objects, origin, "global")

    def _is_computed(self, origin: Origin) -> bool:
        whole = origin.item is None and not origin.attributes
        return whole and origin.node in self._given_to_groups

    def _local_part(self, origin: Origin) -> Iterator[Origin]:
        """What is added to the number of processes on the nodes before: the local rank."""
        made = origin.node
        if isinstance(made, ir.Binary):
            for side in (made.left, made.right):
                if not _is_product(side):
                    yield from values(self.objects, side, origin.point)

    @cached_property
    def _given_to_groups(self) -> frozenset[ir.Expr]:
        """The sums ``node * gpus + gpu`` that a group, or the environment, is given as the rank."""
        given = [(value, point) for value, point in self._given if value is not None]
        given += [
            (written.value, written.point)
            for written in environment_writes(self.objects)
            if _is_rank(self.objects.catalogue.env(written.name), "global")
        ]
        return frozenset(
            origin.node
            for node, point in given
            for origin in values(self.objects, node, point)
            if isinstance(origin.node, ir.Binary) and _is_sum(origin.node)
        )

    @cached_property
    def _group_has_computed(self) -> bool:
        """Is a sum the rank in every one of these groups?"""
        return bool(self._given) and all(
            value is not None and any(map(self._is_computed, values(self.objects, value, point)))
            for value, point in self._given
        )

    @cached_property
    def _given(self) -> list[tuple[ir.Expr | None, Point]]:
        """What the groups that the file makes are given as the rank; or else what it imports."""
        own = list(self.objects.calls_to(_INIT))
        sites = own or [
            site
            for each in self.objects.module.imports
            if "init_process_group" in each.words and each.project is not None
            for site in objects_across(each, each.project.catalogue_of(each)).calls_to(_INIT)
        ]
        return [(self.objects.argument(s, "rank", 4).value, s.point) for s in sites]


def _is_sum(node: ir.Binary) -> bool:
    return node.op == "+" and _is_product(node.left) != _is_product(node.right)


def _is_product(node: ir.Expr) -> bool:
    return any(isinstance(part, ir.Binary) and part.op == "*" for part in expressions_in(node))
