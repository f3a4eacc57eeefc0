"""Does an expression have another value in each process: from the rank, a clock, a generator?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_read
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of

if TYPE_CHECKING:
    from distlint.catalogue.catalogue import Entry

_RANK = re.compile(r"^(?:.*_)?(?:rank|process_index)$")
_AGREES = re.compile(r"broadcast|reduce|gather|agreed|same_on|from_main|sync|shared")
_SECONDS = re.compile(r"%[SfXTscr+]")
_DEPTH = 6
"""How many assignments are followed back."""


def difference(objects: Objects, node: ir.Expr, point: Point) -> str | None:
    """What makes the value of an expression differ between processes; None if nothing is seen to.

    Random numbers differ unless the module seeds something.
    """
    return _difference(objects, node, point, _Way(_DEPTH))


def difference_of(objects: Objects, node: ir.Expr, point: Point) -> tuple[str, ir.Call] | None:
    """The same, where a call makes it, and that call."""
    way = _Way(_DEPTH)
    why = _difference(objects, node, point, way)
    return (why, way.calls[-1]) if why is not None and way.calls else None


@dataclass(frozen=True, slots=True)
class _Way:
    """How many assignments are still followed back, and which have been."""

    left: int
    seen: set[int] = field(default_factory=set)
    calls: list[ir.Call] = field(default_factory=list)
    """The calls that were seen to differ."""

    def back(self) -> _Way:
        return replace(self, left=self.left - 1)


def _difference(objects: Objects, node: ir.Expr, point: Point, way: _Way) -> str | None:
    if way.left == 0 or isinstance(node, (ir.Literal, ir.Lambda, ir.Comprehension)):
        return None
    variable = environment_read(objects, node, point)
    entry = objects.catalogue.env(variable) if variable else None
    if entry is not None:
        return "the rank" if entry.rank is not None else None
    if isinstance(node, ir.Call):
        return _of_call(objects, node, point, way)
    if path_of(node) is not None:
        return _of_path(objects, node, point, way)
    return _of_children(objects, node, point, way)


def _of_call(objects: Objects, call: ir.Call, point: Point, way: _Way) -> str | None:
    site = CallSite(call, point)
    name = ir.last_name(call.func)
    if _AGREES.search(name) or _is_coarse(call):
        return None
    entry = _entry(objects, site)
    if entry is not None and entry.rank is not None:
        return "the rank"
    if entry is not None and entry.local is not None and entry.local.form == "call":
        way.calls.append(call)
        if entry.local.stream is None:
            return "a clock" if "clock" in entry.local.why else f"`{name}`"
        is_own = point.scope.module is objects.module  # others may be seeded by any file
        return "random numbers" if is_own and not is_seeded(objects) else None
    if any(origin.node is not call for origin in objects.origins(call, point)):
        return _of_origins(objects, call, point, way)
    return _of_children(objects, call, point, way)


def _is_coarse(call: ir.Call) -> bool:
    """Is a time written down without its seconds, so that processes mostly agree?"""
    if ir.last_name(call.func) != "strftime":
        return False
    formats = [a.value.value for a in call.args if isinstance(a.value, ir.Literal)]
    return any(isinstance(each, str) and not _SECONDS.search(each) for each in formats)


def _of_path(objects: Objects, node: ir.Expr, point: Point, way: _Way) -> str | None:
    found = _of_origins(objects, node, point, way)
    if found is not None:
        return found
    origins = objects.origins(node, point)
    known = any(o.node is not node and not isinstance(o.node, ir.Name) for o in origins)
    path = path_of(node)
    if not known and path is not None and _RANK.match(path[-1].lower()):
        return "the rank"
    return None


def _of_origins(objects: Objects, node: ir.Expr, point: Point, way: _Way) -> str | None:
    for origin in objects.origins(node, point):
        if (
            isinstance(origin.node, ir.Expr)
            and origin.node is not node
            and id(origin.node) not in way.seen
            and not _is_agreed(objects, origin)
        ):
            way.seen.add(id(origin.node))
            found = _difference(objects, origin.node, origin.point, way.back())
            if found is not None:
                return found
    return None


def _is_agreed(objects: Objects, origin: Origin) -> bool:
    """Is the variable that holds the value given to a broadcast, or another collective?"""
    statement = origin.point.statement
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    here = objects.at(origin.point)
    held = {path for target in targets if (path := path_of(target)) is not None}
    return any(
        site.point.scope is origin.point.scope and path_of(argument.value) in held
        for site in here.calls({n for n in here.called_names if _AGREES.search(n)})
        for argument in site.call.args
    )


def _of_children(objects: Objects, node: ir.Expr, point: Point, way: _Way) -> str | None:
    for child in ir.children(node):
        inner = child.value if isinstance(child, ir.Argument) else child
        if isinstance(inner, ir.Expr):
            found = _difference(objects, inner, point, way)
            if found is not None:
                return found
    return None


def _entry(objects: Objects, site: CallSite) -> Entry | None:
    name = objects.called(site)
    return objects.catalogue.lookup(name) if name else None


def is_seeded(objects: Objects) -> bool:
    """Does the module seed generators: with a function of a framework, or one that says so?"""
    return any(True for _ in seedings(objects))


def seedings(objects: Objects) -> Iterator[CallSite]:
    """The calls that seed generators with a value: ``torch.seed()`` does not."""
    names = {name for name in objects.called_names if "seed" in name.lower()}
    for site in objects.calls(names):
        if site.call.args or site.name not in ("seed", "initial_seed"):
            yield site
