"""The checkpoints that a project saves as dicts: their keys, and what is under these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.checkpoints._paths import spelled
from distlint.rules.checkpoints._pickled_kinds import kind_of

_SAVES = {
    "torch.save": (0, 1),
    "accelerate.Accelerator.save": (0, 1),
    "torch_xla.core.xla_model.save": (0, 1),
}
_MOST = 64
"""Checkpoints that are looked at; a script with more is a test of saving."""

_MOST_FILES = 24
"""Files that import what one imports, which are looked at."""

_DEPTH = 2
"""How many callers a path is followed through, and how many dicts that are put into others."""

Placed = tuple[str, ir.Expr, Point]
"""A key, the value, and where it is put there."""


@dataclass(frozen=True, slots=True)
class Held:
    """An object in a checkpoint: the class, the key, and the value where it is put there."""

    kind: str
    key: str
    value: ir.Expr
    point: Point


@dataclass(frozen=True, slots=True)
class Saved:
    """A dict that is saved; ``given`` are keys of what a function is given that nothing calls."""

    site: CallSite
    keys: frozenset[str]
    held: tuple[Held, ...]
    given: frozenset[str]
    paths: tuple[ir.Expr, ...]


def saved_near(module: Module) -> list[Saved]:
    """The dicts that the files save which run with one; else those that share files with it."""
    found = list(islice(_saved_in(files_near(module)), _MOST))
    if not found:
        beside = dict.fromkeys(other for each in module.imports for other in each.all_importers())
        found = list(islice(_saved_in(list(beside)[:_MOST_FILES]), _MOST))
    return found


def _saved_in(modules: list[Module]) -> Iterator[Saved]:
    for module in modules:
        if "save" in module.tokens:
            objects = _objects(module)
            for call in objects.calls_to(*_SAVES):
                for site in _real(objects, call):
                    yield from _dicts(objects.at(site.point), site)


def _objects(module: Module) -> Objects:
    assert module.project is not None
    return objects_across(module, module.project.catalogue_of(module))


def _real(objects: Objects, site: CallSite) -> Iterator[CallSite]:
    """The call itself; the calls of its function if that hands on all that it is given."""
    function = site.point.scope.function
    stars = [each for each in site.call.args if each.star]
    if not stars:
        yield site
    elif function is not None and len(stars) == len(site.call.args):
        if all(param.star for param in function.params):
            yield from (caller for _, caller in objects.callers_anywhere(function))


def _dicts(objects: Objects, site: CallSite) -> Iterator[Saved]:
    state = objects.argument(site, "obj", 0).value
    path = objects.argument(site, "f", 1).value
    if state is None:
        return
    paths = tuple(forms_of(objects, path, site.point)) if path is not None else ()
    for origin in objects.origins(state, site.point):
        if origin.attributes or origin.item is not None:
            continue
        there = objects.at(origin.point)
        placed = list(_placed(there, origin))
        held = [
            Held(kind, key, value, point)
            for key, value, point in placed
            if (kind := kind_of(there, value, point))
        ]
        keys = frozenset(key for key, _, _ in placed)
        given = frozenset(key for key, value, point in placed if _is_given(there, value, point))
        if keys:
            yield Saved(site, keys, tuple(held), given, paths)


def _placed(objects: Objects, origin: Origin, depth: int = _DEPTH) -> Iterator[Placed]:
    """What is put into a dict where it is made, and later in the same function."""
    made, point = origin.node, origin.point
    if not isinstance(made, ir.Expr) or not _is_dict(made):
        return
    yield from _written(objects, made, point, depth)
    for each in objects.points_in(point.scope):
        statement = each.statement
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                for part, value in _pairs(target, statement.value):
                    key = text_of(part.index) if isinstance(part, ir.Subscript) else ""
                    if isinstance(part, ir.Subscript) and key:
                        if _is_made(objects, part.value, each, made):
                            yield key, value, each
        elif isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Call):
            func = statement.value.func
            if isinstance(func, ir.Attribute) and func.attr == "update":
                if _is_made(objects, func.value, each, made):
                    yield from _written(objects, statement.value, each, depth)


def _pairs(target: ir.Expr, value: ir.Expr) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The targets and values of ``state["a"], state["b"] = a, b``."""
    if isinstance(target, ir.Display) and isinstance(value, ir.Display):
        if len(target.items) == len(value.items):
            yield from zip(target.items, value.items, strict=True)
        return
    yield target, value


def _is_dict(node: ir.Expr) -> bool:
    """Is it ``{...}`` or ``dict(...)``?"""
    is_call = isinstance(node, ir.Call) and path_of(node.func) == ("dict",)
    return is_call or isinstance(node, ir.DictDisplay)


def _written(objects: Objects, node: ir.Expr, point: Point, depth: int) -> Iterator[Placed]:
    """The items that a dict is written down with, also by ``**other``."""
    if isinstance(node, ir.DictDisplay):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                yield from _of_other(objects, value, point, depth)
            elif text := text_of(key):
                yield text, value, point
    elif isinstance(node, ir.Call):
        for each in node.args:
            if each.keyword:
                yield each.keyword, each.value, point
            elif each.star != "*":
                yield from _of_other(objects, each.value, point, depth)


def _of_other(objects: Objects, node: ir.Expr, point: Point, depth: int) -> Iterator[Placed]:
    if depth:
        for origin in objects.origins(node, point):
            if not origin.attributes and origin.item is None:
                yield from _placed(objects.at(origin.point), origin, depth - 1)


def _is_made(objects: Objects, node: ir.Expr, point: Point, made: ir.Expr) -> bool:
    return any(each.node is made for each in objects.origins(node, point))


def _is_given(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it a parameter of a function of which no call is known?"""
    found = objects.origins(node, point)
    return bool(found) and all(
        isinstance(each.node, ir.Name)
        and not each.attributes
        and each.point.scope.has_param(each.node.id)
        for each in found
    )


def text_of(node: object) -> str:
    """The text that an expression is."""
    if isinstance(node, ir.Literal) and isinstance(node.value, str):
        return node.value
    return ""


def forms_of(
    objects: Objects, path: ir.Expr, point: Point, depth: int = _DEPTH
) -> Iterator[ir.Expr]:
    """A path as its function writes it; where that is given it, as the callers do."""
    function = point.scope.function
    whole = spelled(path, objects, point.scope)
    if function is None or not isinstance(whole, ir.Name) or not point.scope.has_param(whole.id):
        yield whole
        return
    for there, caller in objects.callers_anywhere(function) if depth else ():
        for param, value in objects.params_given(function, caller):
            if param.name == whole.id:
                yield from forms_of(there, value, caller.point, depth - 1)
