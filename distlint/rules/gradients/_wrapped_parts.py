"""What is changed of a model after DDP has wrapped it: other layers, other types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import Guards
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._layers import makes_layer
from distlint.rules.gradients._steps import exclude
from distlint.rules.gradients._training_after import TrainingAfter
from distlint.rules.training import DDP

_INNER = "module"
_ADDS = {"add_module": 1, "register_module": 1, "register_parameter": 1, "setattr": 2}
"""What gives a module a part, and the position of that part."""
_GROWING = frozenset({"resize_token_embeddings", "add_adapter"})
"""Methods of a model that add parameters to it."""
_GROWS = _GROWING | {"get_peft_model", "inject_adapter_in_model"}
_CONVERTS = frozenset({"half", "bfloat16", "double", "cpu", "to"})
_DTYPES = frozenset({"float16", "half", "bfloat16", "float64", "double"})
_AVERAGES = re.compile(r"(?:average|avg|reduce|sync)\w*_grad|grad\w*_(?:average|reduc|sync)")


Wrap = tuple[CallSite, CallSite]
"""A call that gives a wrapped model, and the one that wraps it."""


class Change(NamedTuple):
    """A statement after a wrap, what it does, and the wrap."""

    point: Point
    message: str
    effect: str
    help: str
    wrap: CallSite


def changes_after_wrap(guards: Guards) -> Iterator[Change]:
    """The layers that a module adds to a model, and its conversions, after it is wrapped."""
    objects = objects_across(guards.objects.module, guards.objects.catalogue)
    wraps = list(objects.made(*DDP))
    if any(map(_AVERAGES.search, objects.module.words)):
        return
    training = TrainingAfter()
    changes = (*_new_layers(objects, wraps), *_grown(objects, wraps), *_conversions(objects, wraps))
    for change in changes:
        if not wrapped_later(objects, change.point):
            if training.follows(guards, change.point, in_training=False):
                yield change


def _new_layers(objects: Objects, wraps: Sequence[Wrap]) -> Iterator[Change]:
    for point, owner, value, name in _given_parts(objects):
        wrap = _wrap_of(objects, owner, point, wraps, inside=True)
        if wrap is not None and makes_layer(objects, value, point):
            yield Change(
                point,
                f"`{name}` gets new parameters after wrapping in DDP",
                "DDP has no hooks for them and does not average their gradients; waiting for "
                "those of the old layer may fail",
                "Change the model before wrapping, or wrap it again",
                wrap,
            )


def _grown(objects: Objects, wraps: Sequence[Wrap]) -> Iterator[Change]:
    """Where a library gives a wrapped model parameters: adapters, a larger embedding."""
    for site in objects.calls(_GROWS):
        func, args = site.call.func, site.call.args
        is_method = site.name in _GROWING
        owner = func.value if is_method and isinstance(func, ir.Attribute) else None
        if not is_method and args and objects.callee(site) is None:
            owner = (
                args[int(site.name == "inject_adapter_in_model")].value if len(args) > 1 else None
            )
        if owner is None or (is_method and not args):
            continue  # without arguments, it tells the embedding
        wrap = _wrap_of(objects, owner, site.point, wraps, inside=False)
        if wrap is not None:
            yield Change(
                site.point,
                f"`{site.name}` adds parameters after wrapping in DDP",
                "DDP has no hooks for them and does not average their gradients",
                "Change the model before wrapping, or wrap it again",
                wrap,
            )


def _given_parts(objects: Objects) -> Iterator[tuple[Point, ir.Expr, ir.Expr, str]]:
    """Where a module is given a part: the module, the part, and what it is called."""
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.Assign):
            for target in statement.targets:
                if isinstance(target, (ir.Attribute, ir.Subscript)):
                    shown = target.value if isinstance(target, ir.Subscript) else target
                    name = ".".join(path_of(shown) or (ir.last_name(shown),))
                    yield point, target.value, statement.value, name
    for site in objects.calls(_ADDS):
        func, args = site.call.func, site.call.args
        position = _ADDS[site.name]
        owner = func.value if isinstance(func, ir.Attribute) else args[0].value if args else None
        if owner is not None and len(args) > position:
            name = ".".join(path_of(owner) or ("the model",))
            yield site.point, owner, args[position].value, name


def _conversions(objects: Objects, wraps: Sequence[Wrap]) -> Iterator[Change]:
    for site in objects.calls(_CONVERTS):
        func = site.call.func
        if not isinstance(func, ir.Attribute) or not _converts(objects, site):
            continue
        wrap = _wrap_of(objects, func.value, site.point, wraps, inside=False)
        if wrap is not None and not _converted_before(objects, site, wrap):
            moves = site.name == "cpu" or "cpu" in ir.tokens_of(site.call)
            what = "moved to the CPU" if moves else "converted"
            yield Change(
                site.point,
                f"`{'.'.join(path_of(func.value) or ('the model',))}` is {what} after wrapping "
                "in DDP",
                "the parameters lose the hooks of DDP: their gradients are no longer averaged",
                "Move a copy, or the tensors of the state dict"
                if moves
                else "Convert the model before wrapping",
                wrap,
            )


def _converts(objects: Objects, site: CallSite) -> bool:
    """Does a call change the type of all parameters, or move them off their device?"""
    uses_cuda = "cuda" in objects.module.words
    if site.name != "to":
        return not site.call.args and (uses_cuda or site.name != "cpu")
    for argument in site.call.args:
        if isinstance(argument.value, ir.Literal) and argument.value.value == "cpu":
            return uses_cuda
        dotted = objects.names.dotted(argument.value, site.point.scope) or ""
        if dotted.startswith("torch.") and dotted.rpartition(".")[2] in _DTYPES:
            return True
    return False


def _converted_before(objects: Objects, site: CallSite, wrap: CallSite) -> bool:
    """Has the file converted a model to the same before it wraps one?"""
    same = ir.tokens_of(site.call) & (_DTYPES | {"cpu"})
    return any(
        each.point.scope is wrap.point.scope
        and each.point.statement.site <= wrap.point.statement.site
        and not same.isdisjoint(ir.tokens_of(each.call))
        for each in objects.calls(_CONVERTS)
    )


def _wrap_of(
    objects: Objects, owner: ir.Expr, point: Point, wraps: Sequence[Wrap], *, inside: bool
) -> CallSite | None:
    """The wrap of the model that an expression is, or that it is inside of."""
    parts = [owner]
    while inside and isinstance(parts[-1], (ir.Attribute, ir.Subscript)):
        parts.append(parts[-1].value)  # model.module.blocks[0].attention
    for origin in (each for part in parts for each in objects.origins(part, point)):
        if isinstance(origin.node, ir.Call):
            wrap = CallSite(origin.node, origin.point)
            if objects.is_call_to(wrap, *DDP) and _may_come_before(wrap, point):
                if not inside or origin.attributes[:1] == (_INNER,):
                    return wrap
                continue
        for site, wrap in wraps:
            if site.point.scope is point.scope and _may_come_before(site, point):
                if _is_of(objects, origin, wrap):
                    return wrap
    return None


def _may_come_before(wrap: CallSite, point: Point) -> bool:
    """May a wrap come before a statement, where they stand in one function?"""
    return wrap.point.scope is not point.scope or (
        wrap.point.statement.site < point.statement.site and not exclude(wrap.point, point)
    )


def _is_of(objects: Objects, origin: Origin, wrap: CallSite) -> bool:
    """Is it what a call wraps, by the name that it had before, or inside of that?"""
    given = wrap.call.args[0].value if wrap.call.args else None
    return given is not None and any(
        isinstance(each.node, ir.Call)
        and (each.node, each.item) == (origin.node, origin.item)
        and origin.attributes[: len(each.attributes)] == each.attributes
        for each in objects.origins(given, wrap.point)
    )


def wrapped_later(objects: Objects, point: Point) -> bool:
    """Does the same function wrap a model afterwards, itself or by one of the file that does?"""
    again = [site for site, _ in objects.made(*DDP)]
    for function in [site.point.scope.function for site in again]:
        if function is not None:
            again += objects.callers(function)
    return any(
        each.point.scope is point.scope and each.point.statement.site > point.statement.site
        for each in again
    )
