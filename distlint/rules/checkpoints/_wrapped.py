"""Which models are wrapped, and what their wrapper puts before the names in a state dict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite, is_none
from distlint.rules.checkpoints._containers import put_into, taken_from

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import Origin
    from distlint.analyzer.static.reaching_definitions import Point

_PREFIXES = {
    "torch.nn.parallel.DistributedDataParallel": ("DistributedDataParallel", "module."),
    "torch.nn.parallel.distributed.DistributedDataParallel": ("DistributedDataParallel", "module."),
    "torch.nn.parallel.DataParallel": ("DataParallel", "module."),
    "torch.nn.DataParallel": ("DataParallel", "module."),
    "apex.parallel.DistributedDataParallel": ("DistributedDataParallel", "module."),
    "torch.compile": ("torch.compile", "_orig_mod."),
}
_PREPARE = "accelerate.Accelerator.prepare"
_MODEL = re.compile(r"model|net$|encoder|transformer|vae|critic|actor|module", re.IGNORECASE)
WRAPPERS = frozenset({"DistributedDataParallel", "DataParallel", "DDP", "compile", "prepare"})
"""Words of a file that wraps a model with one of these."""
_INNER = ("module", "_orig_mod")


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A wrapper that a model may be in: its name and the prefix that it puts before names."""

    what: str
    prefix: str
    made: ir.Call | None = None
    certain: bool = False
    """Is the model in it on all ways that lead there?"""
    made_in: Objects | None = None
    """The file that wraps the model."""


def wrapper_of(objects: Objects, node: ir.Expr, point: Point) -> Wrapper | None:
    """The outermost wrapper that a model is in at a statement, if the project makes one.

    None as well where the file may have taken it off: ``model.module if ... else model``.
    """
    objects = objects_across(objects.module, objects.catalogue)
    sources = list(_sources(objects, node, point))
    known = [each for each in sources if not is_none(each.origin.node)]
    origins = [each.origin for each in known]
    found = [_wrapper(each.objects, each.origin) for each in known]
    if any(each.objects is not objects for each in sources):  # there may be other callers
        found = [each and replace(each, certain=False) for each in found]
    wrappers = [each for each in found if each is not None]
    if any(each.is_inner or each.is_item or each.origin.attributes for each in sources):
        if not wrappers or len(wrappers) < len(origins):
            return None
        is_item = any(each.is_item for each in sources)
        return replace(wrappers[0], certain=False) if is_item else _agreed(wrappers)
    if wrappers:
        if len(wrappers) == len(origins):
            return _agreed(wrappers)
        # whether a method of another file wraps what an object holds, that object decides
        is_kept = isinstance(node, ir.Attribute)
        here = [each for each in wrappers if not is_kept or each.made_in is objects]
        return here[0] if here else None
    names = {each.node.id if isinstance(each.node, ir.Name) else "" for each in origins}
    if len(names) == 1:  # a parameter, perhaps kept in an attribute, that is called ddp_model
        hinted = _PREFIXES.get(objects.catalogue.hint(names.pop()) or "")
        return Wrapper(*hinted) if hinted is not None else None
    return None


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a model comes from: taken out of a wrapper, or out of a container?"""

    objects: Objects
    origin: Origin
    is_inner: bool = False
    is_item: bool = False


def _sources(objects: Objects, node: ir.Expr, point: Point) -> Iterator[_Source]:
    """The origins of a model, with what wrappers were given where that is taken out of them."""
    left = [(objects, node, point, False, False)]
    followed: set[ir.Expr] = set()
    forwarded: dict[object, ir.Attribute] = {}
    while left:
        objects, node, point, is_inner, is_item = left.pop()
        if node in followed:
            continue  # it is made from itself
        followed.add(node)
        origins = objects.origins(node, point)
        is_open = not isinstance(node, ir.Subscript) or any(e.node is node for e in origins)
        taken = taken_from(node, point) if is_open else None
        made = put_into(objects, taken, point) if taken is not None else []
        if made:
            left += [(objects, value, at, is_inner, True) for value, at in made]
            continue
        for origin in origins:
            where = objects.at(origin.point)
            given = _given_to_wrapper(where, origin)
            if given is not None and _is_forwarded(where, origin):
                inner = forwarded.setdefault(
                    origin.node, ir.Attribute(given, origin.attributes[0], 0)
                )
                left.append((where, inner, origin.point, is_inner, is_item))
            elif given is None:
                is_taken_out = isinstance(origin.node, ir.Attribute) and origin.node.attr in _INNER
                yield _Source(where, origin, is_inner or is_taken_out, is_item)
            else:
                left.append((where, given, origin.point, True, is_item))


def _given_to_wrapper(objects: Objects, origin: Origin) -> ir.Expr | None:
    """The model that a wrapper was given, if an origin is what is taken out of it again."""
    call = origin.node
    if not isinstance(call, ir.Call) or not call.args or origin.item is not None:
        return None
    if len(origin.attributes) != 1 or origin.attributes[0] not in _INNER:
        return None
    is_wrapper = objects.called(CallSite(call, origin.point)) in _PREFIXES
    return call.args[0].value if is_wrapper else None


def _is_forwarded(objects: Objects, origin: Origin) -> bool:
    """Is it an attribute that a compiled model takes from what it was made of?"""
    assert isinstance(origin.node, ir.Call)
    is_compiled = objects.called(CallSite(origin.node, origin.point)) == "torch.compile"
    return is_compiled and origin.attributes[0] != "_orig_mod"


def _agreed(wrappers: list[Wrapper]) -> Wrapper:
    """The one of several ways; certain when all of them make the same."""
    same = all(each.what == wrappers[0].what for each in wrappers)
    return replace(wrappers[0], certain=same)


def _wrapper(objects: Objects, origin: Origin) -> Wrapper | None:
    call = origin.node
    if not isinstance(call, ir.Call) or origin.attributes:
        return None
    called = objects.called(CallSite(call, origin.point))
    if called == _PREPARE:
        return _prepared(objects, call, origin.item or 0)
    if called not in _PREFIXES or origin.item is not None:
        return None
    return Wrapper(*_PREFIXES[called], call, made_in=objects)


def _prepared(objects: Objects, call: ir.Call, index: int) -> Wrapper | None:
    """What ``prepare`` gives back at an index, when that argument reads as a model."""
    if index >= len(call.args) or any(argument.star for argument in call.args):
        return None
    value = call.args[index].value
    while isinstance(value, ir.Subscript):
        value = value.value
    name = ir.last_name(value)
    if isinstance(value, ir.Call):
        name = ir.last_name(value.func)
    if not _MODEL.search(name):
        return None
    return Wrapper("Accelerator.prepare", "module.", call, made_in=objects)
