"""Where a value comes from in the whole project: origins, followed from one file to the next.

# sharding.py                       # train.py
def shard(net):                     model = shard(net)     # has the origin FSDP(net) there
    return FSDP(net)
"""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_elsewhere, known_as, objects_in
from distlint.analyzer.static.inheritance import inherited
from distlint.analyzer.static.journeys import function_elsewhere, made_elsewhere, returned_by
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of

_DEPTH = 4
"""Through how many files a value is followed."""

Place = tuple[Objects, Origin]


def origins_across(
    objects: Objects, node: ir.Expr, point: Point, depth: int = _DEPTH
) -> tuple[Place, ...]:
    """Where a value may come from; what no file shows is an origin as it stands.

    Functions of other files are followed to what they return, parameters to the calls in other
    files, attributes of ``self`` to the classes above and below, and those of an object to its
    class.
    """
    found: dict[tuple[object, ...], Place] = {}
    for origin in objects.origins(node, point):
        further = list(continued(objects, origin, depth)) if depth else []
        for where, each in further or [(objects, origin)]:
            found[id(where), each.node, each.item, each.attributes] = where, each
    return tuple(found.values())


def continued(objects: Objects, origin: Origin, depth: int = _DEPTH) -> Iterator[Place]:
    """Where an origin comes from that lies in other files; nothing if it ends here."""
    node = origin.node
    if objects.module.project is None or not isinstance(node, ir.Expr):
        return
    if isinstance(node, ir.Call):
        yield from _returned(objects, origin, depth)
        return
    path = path_of(node)
    if path is None or origin.item is not None or origin.attributes:
        return
    if len(path) == 1:
        yield from _given(objects, path[0], origin.point, depth)
    elif path[0] == "self":
        yield from inherited(objects, node, origin.point)
        yield from _below(objects, path[1:], origin.point)
    else:
        yield from made_elsewhere(objects, node, origin.point)


def _returned(objects: Objects, origin: Origin, depth: int) -> Iterator[Place]:
    """What a function of another file returns, or an item or attribute of what it makes."""
    assert isinstance(origin.node, ir.Call)
    call = Origin(origin.node, origin.point)
    there = function_elsewhere(objects, call.site) if call.site is not None else None
    if there is None:
        return
    where = objects_in(there[0])
    if there[1].name == "__init__":
        for name in origin.attributes[:1] if len(origin.attributes) == 1 else ():
            cls = there[0].classes.get(there[1].owner)
            for each in where.attribute(cls, (name,)) if cls is not None else ():
                yield where, each
        return
    for value, at in returned_by(where, there[1]):
        if origin.item is None and not origin.attributes:
            yield from origins_across(where, value, at, depth - 1)
        elif origin.item is not None and isinstance(value, ir.Display):
            if 0 <= origin.item < len(value.items) and not origin.attributes:
                yield from origins_across(where, value.items[origin.item], at, depth - 1)


def _given(objects: Objects, name: str, point: Point, depth: int) -> Iterator[Place]:
    """What calls in other files pass for a parameter."""
    function = point.scope.function
    if function is None or not point.scope.has_param(name):
        return
    params = [param.name for param in function.params if not param.star]
    index = params.index(name) - bool(function.owner) if name in params else None
    for module, site in calls_elsewhere(objects.module, function):
        where = objects_in(module)
        value = where.argument(site, name, index).value
        if value is not None:
            yield from origins_across(where, value, site.point, depth - 1)


def _below(objects: Objects, path: tuple[str, ...], point: Point) -> Iterator[Place]:
    """What classes of other files that derive from this one assign to an attribute."""
    cls = objects.classes.of_self(point.scope)
    for module, known in known_as(objects.module, cls.name) if cls is not None else ():
        where = objects_in(module)
        for other in module.classes.values():
            if any(path_of(base) == known for base in other.bases):
                yield from ((where, each) for each in where.attribute(other, path))
