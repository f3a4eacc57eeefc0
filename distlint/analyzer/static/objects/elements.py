"""What lists and dicts hold whose items are filled in one after another, under computed keys.

loaders = {}
for task, data in sets.items():
    loaders[task] = DataLoader(data)
for task, loader in loaders.items():    # here `loader` has the origin DataLoader(data)
    ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.index import Index
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import (
    ELEMENT,
    VALUE,
    Point,
    Search,
    path_of,
)

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.origins import Origins

_DICTS = frozenset({"dict", "OrderedDict", "defaultdict", "ModuleDict"})
_LISTS = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "deque", "iter",
                    "ModuleList"})  # fmt: skip
"""What makes a container of the items of its argument, in whatever order."""

_ADDED = {"append": 0, "appendleft": 0, "add": 0, "insert": 1, "setdefault": 1}
"""Methods that put one object into a container, and which argument it is."""
_JOINED = {"extend": ELEMENT, "update": VALUE}
"""Methods that put in all that another container holds."""


@dataclass(frozen=True, slots=True)
class Fill:
    """A statement that puts something into a container.

    ``items`` says what of the value: nothing for the value itself, else what it holds. ``key`` is
    the name that it is put under, Ellipsis if that is computed.
    """

    value: ir.Expr
    point: Point
    items: tuple[int, ...] = ()
    key: object = ...


class Elements:
    """What the containers hold that one module makes or fills."""

    def __init__(self, index: Index, origins: Origins) -> None:
        self._index = index
        self._origins = origins

    def held(self, origin: Origin, index: int) -> Iterator[Origin]:
        """What a container may hold: what a loop over it goes through, or has under a key.

        Nothing if it is not known to be one.
        """
        if origin.item is not None or origin.attributes:
            return
        yield from self._origins.at(origin.point).elements._made_with(origin, index)
        if (
            _is_container(origin.node)
            and not _has(origin.node, index)
            and (index != ELEMENT or not _is_dict(origin.node))
        ):
            for fill in self._fills(origin):
                yield from self._origins.taken(fill.value, fill.point, fill.items)

    def put_under_computed(self, origin: Origin) -> Iterator[Origin]:
        """What statements put into a dict under keys that are computed."""
        if origin.item is None and not origin.attributes and _is_container(origin.node):
            for fill in self._fills(origin):
                if fill.key is ... and not fill.items:
                    yield from self._origins.of(fill.value, fill.point)

    def is_fill(self, site: CallSite) -> bool:
        """Does a call only put something into a list or a dict that the project makes?"""
        func = site.call.func
        if not isinstance(func, ir.Attribute) or func.attr not in (*_ADDED, *_JOINED):
            return False
        origins = self._origins.of(func.value, site.point)
        return bool(origins) and all(_is_container(each.node) for each in origins)

    def _fills(self, origin: Origin) -> Iterator[Fill]:
        """The statements that fill a container, in this file and in the one that makes it."""
        if not self._origins.knows_fills:
            return
        there = self._origins.at(origin.point).elements
        for each in dict.fromkeys((there, self)):
            yield from each._filled.get(origin.node, ())

    @cached_property
    def _filled(self) -> dict[object, list[Fill]]:
        """The statements that fill containers, by what made these.

        Whether one is found must not hang on what another one holds.
        """
        table: dict[object, list[Fill]] = {}
        for container, fill in self._written:
            for origin in self._origins.without_fills.of(container, fill.point):
                if origin.item is None and not origin.attributes:
                    table.setdefault(origin.node, []).append(fill)
        return table

    @property
    def _written(self) -> Iterator[tuple[ir.Expr, Fill]]:
        """What is filled, as it is written, and what with."""
        for point in self._index.points:
            statement = point.statement
            if isinstance(statement, ir.Assign):
                for target in statement.targets:
                    if isinstance(target, ir.Subscript) and not isinstance(target.index, ir.Slice):
                        key = target.index.value if isinstance(target.index, ir.Literal) else ...
                        yield target.value, Fill(statement.value, point, (), key)
            elif isinstance(statement, ir.AugAssign) and isinstance(
                statement.value, (ir.Display, ir.Comprehension)
            ):
                yield statement.target, Fill(statement.value, point, (ELEMENT,))
        for site in self._index.calls({*_ADDED, *_JOINED}):
            func, args = site.call.func, site.call.args
            if not isinstance(func, ir.Attribute) or any(each.star for each in args):
                continue
            at = _ADDED.get(func.attr)
            if at is None:
                for given in args:
                    items = (_JOINED[func.attr],) if given.keyword is None else ()
                    yield func.value, Fill(given.value, site.point, items, given.keyword or ...)
            elif at == len(args) - 1:
                key = args[0].value if func.attr == "setdefault" else None
                name = key.value if isinstance(key, ir.Literal) else ...
                yield func.value, Fill(args[at].value, site.point, (), name)

    def _made_with(self, origin: Origin, index: int) -> Iterator[Origin]:
        """What an expression puts into the container that it makes."""
        node, point = origin.node, origin.point
        if isinstance(node, ir.Display):
            starred = any(isinstance(item, ir.Starred) for item in node.items)
            is_one = _has(node, index) and not starred
            for item in node.items[index : index + 1] if is_one else node.items:
                if isinstance(item, ir.Starred):
                    yield from self._origins.taken(item.value, point, (ELEMENT,))
                else:
                    yield from self._origins.of(item, point)
        elif isinstance(node, ir.DictDisplay) and index != ELEMENT:
            for key, value in zip(node.keys, node.values, strict=True):
                yield from self._origins.taken(value, point, (VALUE,) if key is None else ())
        elif isinstance(node, ir.Comprehension) and index < 0:
            yield from self._comprehended(node, point, index)
        elif isinstance(node, ir.Call):
            yield from self._given_to(node, point, index)

    def _comprehended(self, node: ir.Comprehension, point: Point, index: int) -> Iterator[Origin]:
        element = node.element
        if _is_dict(node):
            if index == ELEMENT or not isinstance(element, ir.Display):
                return
            element = element.items[-1]
        for target, iterable, _ in node.clauses if isinstance(element, ir.Name) else ():
            assert isinstance(element, ir.Name)
            found = Search((element.id,), point.scope).taken_by(target, iterable)
            if found is not None:
                yield from self._origins.taken(iterable, point, found)
                return
        yield from self._origins.of(element, point)

    def _given_to(self, call: ir.Call, point: Point, index: int) -> Iterator[Origin]:
        """What a call takes from its arguments: ``list(loaders)``, ``dict(train=loader)``."""
        func, first = call.func, call.args[0].value if call.args else None
        if isinstance(func, ir.Attribute) and not call.args:
            if func.attr == "values" and index == ELEMENT:
                yield from self._origins.taken(func.value, point, (VALUE,))
            elif func.attr == "copy":
                yield from self._origins.taken(func.value, point, (index,))
        elif _is_dict(call) and index != ELEMENT:
            for each in call.args:
                if each.keyword or ir.last_name(func) != "defaultdict":
                    items = () if each.keyword else (VALUE,)
                    yield from self._origins.taken(each.value, point, items)
        elif first is not None and (
            (_is_container(call) and not _is_dict(call))
            or (index == ELEMENT and self._only_goes_through(func, point))
        ):
            yield from self._origins.taken(first, point, (ELEMENT,))

    def _only_goes_through(self, func: ir.Expr, point: Point) -> bool:
        """Is it a class of a library that goes through what it wraps: a progress bar?"""
        entry = self._index.names.entry(func, point.scope)
        return entry is not None and entry.cls is not None and entry.cls.wraps is not None

    def of_turn(self, origin: Origin, index: int) -> Iterator[Origin]:
        """One part of what a loop over a call gets: ``loader`` of ``enumerate(loaders)``."""
        call = origin.node
        if origin.item != ELEMENT or origin.attributes or not isinstance(call, ir.Call):
            return
        args, name = call.args, ir.last_name(call.func)
        if any(each.star for each in args):
            return
        if isinstance(call.func, ir.Attribute):
            if name == "items" and not args and index == 1:
                yield from self._origins.taken(call.func.value, origin.point, (VALUE,))
        elif name == "enumerate" and args and index == 1:
            yield from self._origins.taken(args[0].value, origin.point, (ELEMENT,))
        elif name == "zip" and 0 <= index < len(args):
            yield from self._origins.taken(args[index].value, origin.point, (ELEMENT,))


def _is_container(node: object) -> bool:
    """Does an expression make a list, a set or a dict?"""
    if isinstance(node, ir.Call):
        path = path_of(node.func)
        return path is not None and path[-1] in (*_DICTS, *_LISTS)
    return isinstance(node, (ir.Display, ir.DictDisplay, ir.Comprehension))


def _has(node: object, index: int) -> bool:
    """Does a list or tuple have an item of this index from the start?"""
    return isinstance(node, ir.Display) and 0 <= index < len(node.items)


def _is_dict(node: object) -> bool:
    """Does a loop over it go through keys?"""
    if isinstance(node, ir.Call):
        return ir.last_name(node.func) in _DICTS
    return isinstance(node, ir.DictDisplay) or (
        isinstance(node, ir.Comprehension) and node.kind == "dict"
    )
