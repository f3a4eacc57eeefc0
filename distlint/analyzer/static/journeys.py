"""Where an object goes in a project: which files hold it, and under which expressions.

An object is followed forward from the call that makes it, into the functions of other files that
are given it. What a function returns is another object for each call of it in another file.

    # data.py                           # train.py
    def make(data):                     loaders = make(data)
        loader = DataLoader(data)       for batch in loaders["train"]:  # holds it
        return {"train": loader}            ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.callers import (
    called_elsewhere,
    calls_elsewhere,
    derived_elsewhere,
    objects_in,
)
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of

_MOST = 32
"""Places that hold one object, at most."""

_MOST_NESTED = 4
"""How many lists, dicts and objects inside each other are looked into."""

Nodes = tuple[ir.Expr | ir.Function | ir.Class, ...]

Thing = tuple[ir.Expr | ir.Function, Path]
"""A call or a function, and what is taken of its value or of its parameters: ``[0]``, ``train``."""


@dataclass(frozen=True, slots=True)
class Holder:
    """An object as one file knows it; ``given_at`` is the call that hands it over to a function."""

    objects: Objects
    thing: Thing
    given_at: CallSite | None = None
    giver: Holder | None = None

    def rest(self, node: ir.Expr, point: Point) -> Iterator[Path]:
        """What an expression takes of the object: ``("sampler",)`` of ``loader.sampler``."""
        for each in things_of(self.objects, node, point):
            rest = _beyond(self.thing, each)
            if rest is not None:
                yield rest

    def is_held(self, node: ir.Expr, point: Point) -> bool:
        """May an expression be the object itself?"""
        return () in self.rest(node, point)

    def paths_in(self, node: ir.Expr, point: Point, outer: Nodes = ()) -> Iterator[Path]:
        """Where the value of an expression holds the object: ``("[train]",)`` in a dict."""
        for origin in self.objects.origins(node, point):
            thing = thing_of(self.objects, origin)
            below = _beyond(thing, self.thing) if thing is not None else None
            if below is not None:
                yield below
                continue
            if len(outer) == _MOST_NESTED or origin.node in outer:
                continue
            for name, value, where in _parts(self.objects, origin):
                for path in self.paths_in(value, where, (*outer, origin.node)):
                    yield (name, *path)


@dataclass(frozen=True, slots=True)
class Journey:
    """The places that one object reaches, and whether it goes where it is not followed."""

    holders: tuple[Holder, ...]
    is_lost: bool

    def returned(self) -> Iterator[tuple[CallSite, Holder]]:
        """The calls in other files that get the object, or what holds it, from this file."""
        for holder in self.holders:
            if isinstance(holder.thing[0], ir.Function):
                continue  # it goes back to the call that gave it
            for function, path in (*_returning(holder), *_keeping(holder)):
                for module, site in calls_elsewhere(holder.objects.module, function):
                    yield site, Holder(objects_in(module), (site.call, path))


def journey(start: tuple[Holder, ...], looked_at: Callable[[Objects, CallSite], bool]) -> Journey:
    """Follow an object into the functions that it is passed to.

    Calls that are ``looked_at`` do nothing with it that matters.
    """
    found, lost = list(start), False
    for holder in found:  # grows meanwhile
        if len(found) > _MOST:
            return Journey(tuple(found), True)
        known = {(each.objects, each.thing) for each in found}
        found += [each for each in _inherited(holder) if (each.objects, each.thing) not in known]
        for site, argument, path in _passed(holder):
            objects = holder.objects
            if objects.callee(site) is not None or looked_at(objects, site):
                continue
            known = {(each.objects, each.thing) for each in found}
            there = _received(holder, site, argument, path)
            if there is None:
                lost = lost or not objects.is_undefined(site)
                continue
            new = [there, *_handed_back(there, holder, site)]
            found += [each for each in new if (each.objects, each.thing) not in known]
    return Journey(tuple(found), lost)


def thing_of(objects: Objects, origin: Origin) -> Thing | None:
    """What a value is, as something that is held: it came from a call, or from a parameter."""
    node = origin.node
    if isinstance(node, ir.Call):
        return node, _taken(origin)
    path, function = path_of(node) if isinstance(node, ir.Expr) else None, origin.point.scope
    if path is not None and function.function is not None and function.has_param(path[0]):
        return function.function, (*path, *_taken(origin))
    return None


def things_of(objects: Objects, node: ir.Expr, point: Point, outer: Nodes = ()) -> Iterator[Thing]:
    """What the value of an expression may be; also an item of a dict."""
    for origin in objects.origins(node, point):
        thing = thing_of(objects, origin)
        if thing is not None:
            yield thing
        elif len(outer) == _MOST_NESTED or origin.node in outer:
            continue
        elif isinstance(origin.node, ir.Subscript) and isinstance(origin.node.index, ir.Literal):
            for owner, path in _things_in(objects, origin.node, origin.point, outer):
                yield owner, (*path, *_taken(origin))


def _things_in(objects: Objects, node: ir.Subscript, point: Point, outer: Nodes) -> Iterator[Thing]:
    """What an item of a dict may be: of one that is spelled out, or one that is made elsewhere."""
    assert isinstance(node.index, ir.Literal)
    key = f"[{node.index.value}]"
    outer = (*outer, node)
    for owner, path in things_of(objects, node.value, point, outer):
        yield owner, (*path, key)
    for origin in objects.origins(node.value, point):
        for name, value, where in _parts(objects, origin):
            if name == key:
                yield from things_of(objects, value, where, outer)


def made_elsewhere(
    objects: Objects, node: ir.Expr, point: Point
) -> Iterator[tuple[Objects, Origin]]:
    """Where a value comes from that a function or class of another file has made."""
    for thing in things_of(objects, node, point):
        yield from _made_by(objects, thing, point)


def continued_elsewhere(objects: Objects, origin: Origin) -> Iterator[tuple[Objects, Origin]]:
    """The same for one of the places where a value comes from in this file."""
    thing = thing_of(objects, origin)
    if thing is not None:
        yield from _made_by(objects, thing, origin.point)


def _made_by(objects: Objects, thing: Thing, point: Point) -> Iterator[tuple[Objects, Origin]]:
    owner, path = thing
    there = (
        function_elsewhere(objects, CallSite(owner, point)) if isinstance(owner, ir.Call) else None
    )
    if there is None:
        return
    others = objects_in(there[0])
    cls = there[0].classes.get(there[1].owner) if there[1].name == "__init__" else None
    if cls is not None:
        values = [
            (v, p, path[1:]) for name, v, p in _attributes(others, cls) if path[:1] == (name,)
        ]
    else:
        values = [(value, at, path) for value, at in returned_by(others, there[1])]
    for value, at, rest in values:
        yield from ((others, each) for each in _take(others, value, at, rest))


def _take(objects: Objects, node: ir.Expr, point: Point, path: Path) -> Iterator[Origin]:
    """What is found in a value under the names of a path."""
    for origin in objects.origins(node, point):
        if not path:
            yield origin
        for name, value, where in _parts(objects, origin) if path else ():
            if name == path[0]:
                yield from _take(objects, value, where, path[1:])


def returned_by(objects: Objects, function: ir.Function) -> Iterator[tuple[ir.Expr, Point]]:
    """What a function returns, and where."""
    scope = objects.scope_of(function)
    for statement, around in placed(function.body) if scope is not None else ():
        if isinstance(statement, ir.Return) and statement.value is not None and scope is not None:
            yield statement.value, Point(scope, around)


def _taken(origin: Origin) -> Path:
    """What is taken of an expression's value."""
    item = () if origin.item is None else (f"[{origin.item}]",)
    return (*item, *origin.attributes)


def _beyond(outer: Thing, inner: Thing) -> Path | None:
    """What is taken of one thing to reach another."""
    (node, path), (other, longer) = outer, inner
    if node is not other or longer[: len(path)] != path:
        return None
    return longer[len(path) :]


def _parts(objects: Objects, origin: Origin) -> Iterator[tuple[str, ir.Expr, Point]]:
    """The values that an expression puts together, and how they are taken out again."""
    node, point = origin.node, origin.point
    if origin.item is not None or origin.attributes:
        return
    if isinstance(node, ir.Display):
        yield from ((f"[{index}]", item, point) for index, item in enumerate(node.items))
    elif isinstance(node, ir.DictDisplay):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ir.Literal):
                yield f"[{key.value}]", value, point
    elif isinstance(node, ir.Call) and path_of(node.func) == ("dict",):
        yield from ((f"[{a.keyword}]", a.value, point) for a in node.args if a.keyword)
    elif isinstance(node, ir.Call):
        cls = objects.callee(CallSite(node, point))
        if isinstance(cls, ir.Class):
            yield from _attributes(objects, cls)


def _attributes(objects: Objects, cls: ir.Class) -> Iterator[tuple[str, ir.Expr, Point]]:
    """What the methods of a class assign to the attributes of its objects."""
    for method in cls.methods.values():
        scope = objects.scope_of(method)
        for statement, around in placed(method.body) if scope is not None else ():
            for target in statement.targets if isinstance(statement, ir.Assign) else ():
                path = path_of(target)
                if scope is not None and path is not None and len(path) == 2:
                    if path[0] == "self" and isinstance(statement, ir.Assign):
                        yield path[1], statement.value, Point(scope, around)


def _inherited(holder: Holder) -> Iterator[Holder]:
    """The object as the methods of classes in other files know it, which derive from one here that
    keeps it in an attribute.
    """
    module = holder.objects.module
    for cls in module.classes.values() if module.project is not None else ():
        below = list(derived_elsewhere(module, cls))
        for name, value, point in _attributes(holder.objects, cls) if below else ():
            for path in holder.paths_in(value, point):
                for where, other in below:
                    for method in other.methods.values():
                        if name in method.tokens and method.params:
                            thing = (method, (method.params[0].name, name, *path))
                            yield Holder(objects_in(where), thing)


def _passed(holder: Holder) -> Iterator[tuple[CallSite, ir.Argument, Path]]:
    """The calls that are given the object, what holds it, or its sampler, and its place there."""
    objects = holder.objects
    for call, point in objects.nodes(ir.Call):
        for argument in call.args:
            for thing in things_of(objects, argument.value, point):
                below = _beyond(thing, holder.thing)
                if below is None and _beyond(holder.thing, thing) in (("sampler",),):
                    below = ()
                if below is not None and call is not holder.thing[0]:
                    yield CallSite(call, point), argument, below


def _received(holder: Holder, site: CallSite, argument: ir.Argument, path: Path) -> Holder | None:
    """The object as a parameter of a function of another file."""
    given = given_to(holder.objects, site, argument)
    if given is None:
        return None
    function, name = given.thing
    return Holder(given.objects, (function, (*name, *path)), site, holder)


def given_to(objects: Objects, site: CallSite, argument: ir.Argument) -> Holder | None:
    """What a call passes to a function of another file, as the parameter is there."""
    there = function_elsewhere(objects, site)
    if there is None or argument.star:
        return None
    module, function = there
    params = [each for each in function.params if not each.star]
    if function.owner and params:
        params = params[1:]
    name = argument.keyword
    if name is None:
        index = next(n for n, each in enumerate(site.call.args) if each is argument)
        if index >= len(params) or any(each.star for each in site.call.args[:index]):
            return None
        name = params[index].name
    if all(each.name != name for each in params):
        return None
    return Holder(objects_in(module), (function, (name,)), site)


def function_called(objects: Objects, site: CallSite) -> tuple[Objects, ir.Function] | None:
    """The function of the project that a call calls, of whatever file, and the objects of that.

    For a class of another file, its constructor.
    """
    found = objects.function_called(site)
    if found is not None or objects.callee(site) is not None:
        return found
    there = function_elsewhere(objects, site)
    return (objects_in(there[0]), there[1]) if there is not None else None


def function_elsewhere(objects: Objects, site: CallSite) -> tuple[Module, ir.Function] | None:
    """The function, method or constructor of another file that a call calls."""
    return called_elsewhere(objects.module, site.call.func) or method_elsewhere(objects, site)


def method_elsewhere(objects: Objects, site: CallSite) -> tuple[Module, ir.Function] | None:
    """The method of a class of another file, called on an object that this file makes of it."""
    func = site.call.func
    if not isinstance(func, ir.Attribute):
        return None
    made = [each.call for each in objects.origins(func.value, site.point)]
    name = path_of(made[0].func) if len(made) == 1 and made[0] is not None else None
    found = objects.module.lead_to(name[0], *name[1:]) if name else None
    if found is None or not isinstance(found[1], ir.Class):
        return None
    method = found[1].methods.get(func.attr)
    return (found[0], method) if method is not None else None


def _handed_back(there: Holder, holder: Holder, site: CallSite) -> Iterator[Holder]:
    """The value of a call, where its function returns what it was given."""
    for function, path in _returning(there):
        if function is there.thing[0]:
            yield Holder(holder.objects, (site.call, path))


def _returning(holder: Holder) -> Iterator[tuple[ir.Function, Path]]:
    """The functions that return the object, and where it is in what they return."""
    objects = holder.objects
    for function in objects.module.functions:
        found: dict[Path, None] = {}
        for value, point in () if function.generator else returned_by(objects, function):
            found.update(dict.fromkeys(holder.paths_in(value, point)))
        yield from ((function, path) for path in found)


def _keeping(holder: Holder) -> Iterator[tuple[ir.Function, Path]]:
    """The constructors of the classes that keep the object in an attribute, and its place."""
    for cls in holder.objects.module.classes.values():
        constructor = cls.methods.get("__init__")
        for name, value, point in _attributes(holder.objects, cls) if constructor else ():
            for path in holder.paths_in(value, point):
                if constructor is not None:
                    yield constructor, (name, *path)
