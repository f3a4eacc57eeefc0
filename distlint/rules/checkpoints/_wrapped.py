"""Which models are wrapped, and what their wrapper puts before the names in a state dict."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.objects.sites import CallSite
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


def wrapper_of(objects: Objects, node: ir.Expr, point: Point) -> Wrapper | None:
    """The outermost wrapper that a model is in at a statement, if the file makes one.

    None as well where the file may have taken it off: ``model.module if ... else model``.
    """
    taken = taken_from(node, point)
    made = put_into(objects, taken, point) if taken is not None else []
    if made:
        inner = [wrapper_of(objects, value, at) for value, at in made]
        wrappers = [each for each in inner if each is not None]
        return replace(wrappers[0], certain=False) if len(wrappers) == len(made) else None
    origins = [origin for origin in objects.origins(node, point) if not _is_none(origin)]
    found = [_wrapper(objects, origin) for origin in origins]
    wrappers = [each for each in found if each is not None]
    if any(origin.attributes for origin in origins):
        return _agreed(wrappers) if len(wrappers) == len(origins) else None
    if wrappers:
        return _agreed(wrappers) if len(wrappers) == len(origins) else wrappers[0]
    names = {each.node.id if isinstance(each.node, ir.Name) else "" for each in origins}
    if len(names) == 1:  # a parameter, perhaps kept in an attribute, that is called ddp_model
        hinted = _PREFIXES.get(objects.catalogue.hint(names.pop()) or "")
        return Wrapper(*hinted) if hinted is not None else None
    return None


def _agreed(wrappers: list[Wrapper]) -> Wrapper:
    """The one of several ways; certain when all of them make the same."""
    same = all(each.what == wrappers[0].what for each in wrappers)
    return replace(wrappers[0], certain=same)


def _wrapper(objects: Objects, origin: Origin) -> Wrapper | None:
    call = origin.node
    if not isinstance(call, ir.Call):
        return None
    called = objects.called(CallSite(call, origin.point))
    if called == _PREPARE and not origin.attributes:
        return _prepared(call, origin.item or 0)
    if called not in _PREFIXES or origin.item is not None:
        return None
    if not origin.attributes:
        return Wrapper(*_PREFIXES[called], call)
    if len(origin.attributes) > 1 or origin.attributes[0] not in _INNER or not call.args:
        return None
    return wrapper_of(objects, call.args[0].value, origin.point)


def _prepared(call: ir.Call, index: int) -> Wrapper | None:
    """What ``prepare`` gives back at an index, when that argument reads as a model."""
    if index >= len(call.args) or any(argument.star for argument in call.args):
        return None
    value = call.args[index].value
    while isinstance(value, ir.Subscript):
        value = value.value
    name = ir.last_name(value)
    if isinstance(value, ir.Call):
        name = ir.last_name(value.func)
    return Wrapper("Accelerator.prepare", "module.", call) if _MODEL.search(name) else None


def _is_none(origin: Origin) -> bool:
    return isinstance(origin.node, ir.Literal) and origin.node.value is None
