"""Layers with parameters, where a value is made of them."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.analyzer import ir
from distlint.analyzer.static.inheritance import bases_elsewhere
from distlint.analyzer.static.names import expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.gradients._containers import written_items

LAYERS = frozenset(
    {
        "Linear", "Bilinear", "Embedding", "EmbeddingBag", "Conv1d", "Conv2d", "Conv3d",
        "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "BatchNorm1d", "BatchNorm2d",
        "BatchNorm3d", "SyncBatchNorm", "LayerNorm", "GroupNorm", "RMSNorm", "PReLU", "LSTM", "GRU",
        "RNN", "MultiheadAttention", "TransformerEncoder", "TransformerDecoder", "Transformer",
        "TransformerEncoderLayer", "TransformerDecoderLayer",
    }
)  # fmt: skip
"""The layers of torch.nn that have parameters whatever their arguments."""

MODULE = "torch.nn.Module"
_GROUPS = tuple(f"torch.nn.{name}" for name in ("Sequential", "ModuleList", "ModuleDict"))
"""Modules that have the parameters of those that they are given."""
_HANDS_ON = frozenset(
    {
        "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm", "torch.compile",
        "torch.nn.utils.parametrizations.weight_norm", "torch.jit.script",
        "torch.nn.utils.parametrizations.spectral_norm",
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    }
)  # fmt: skip
"""Functions that give back the module that they are given."""
_FREEZES = frozenset({"requires_grad", "requires_grad_"})

_DEPTH = 4
"""How many functions, classes and variables are followed to a layer."""


def makes_layer(objects: Objects, value: ir.Expr, point: Point, depth: int = _DEPTH) -> bool:
    """Is a value made of a new layer that has parameters, or is it a new parameter?"""
    for origin in objects.origins(value, point):
        if origin.attributes or not isinstance(origin.node, ir.Expr):
            continue
        for node in expressions_in(origin.node):
            if isinstance(node, ir.Call) and _is_layer(
                objects, CallSite(node, origin.point), depth
            ):
                return True
            if depth and isinstance(node, ir.Name) and node is not value:
                if makes_layer(objects, node, origin.point, depth - 1):
                    return True
    return False


def _is_layer(objects: Objects, site: CallSite, depth: int) -> bool:
    dotted = objects.called(site)
    if dotted.startswith("torch.nn."):
        return site.name in LAYERS or site.name == "Parameter"
    cls = objects.callee(site)
    if not isinstance(cls, ir.Class) or not depth:
        return False
    constructor = objects.classes.method(cls, "__init__")
    scope = objects.scope_of(constructor) if constructor is not None else None
    if constructor is None or scope is None:
        return False
    calls = (
        CallSite(node, Point(scope, around))
        for statement, around in placed(constructor.body)
        for node in _calls_in(expressions_of(statement))
    )
    return any(_is_layer(objects, each, depth - 1) for each in calls)


def trained_module(
    objects: Objects, value: ir.Expr, point: Point, seen: frozenset[ir.Class] = frozenset()
) -> CallSite | None:
    """The call that makes a module with parameters to train, if a value is a new one."""
    for origin in objects.origins(value, point):
        site = origin.site
        if site is not None and is_trained(objects.at(origin.point), site, seen):
            return site
    return None


def is_trained(objects: Objects, site: CallSite, seen: frozenset[ir.Class] = frozenset()) -> bool:
    """Does a call make a module with parameters, none of which it freezes itself?"""
    if objects.is_call_to(site, *_GROUPS):
        return any(
            trained_module(objects, each.value, each.point, seen) is not None
            for argument in site.call.args
            for each in written_items(
                objects, ir.Display("list", (_spread(argument),)), site.point, _DEPTH
            )
        )
    dotted = objects.called(site)
    if dotted in _HANDS_ON and site.call.args:
        return trained_module(objects, site.call.args[0].value, site.point, seen) is not None
    if dotted.startswith("torch.nn."):
        return site.name in LAYERS
    there, cls = objects.callee_anywhere(site) or (objects, None)
    if not isinstance(cls, ir.Class) or cls in seen or len(seen) >= _DEPTH:
        return False
    return is_module(there, cls) and _has_trained_parts(there, cls, seen | {cls})


def _spread(argument: ir.Argument) -> ir.Expr:
    return ir.Starred(argument.value) if argument.star else argument.value


def _has_trained_parts(objects: Objects, cls: ir.Class, seen: frozenset[ir.Class]) -> bool:
    """Does the constructor of a class make layers, and nothing in the class freeze any?"""
    if any(not _FREEZES.isdisjoint(method.tokens) for method in cls.methods.values()):
        return False
    there, constructor = objects.method_anywhere(cls, "__init__") or (objects, None)
    scope = there.scope_of(constructor) if constructor is not None else None
    if constructor is None or scope is None:
        return False
    for statement, around in placed(constructor.body):
        for node in _calls_in(expressions_of(statement)):
            site = CallSite(node, Point(scope, around))
            if there.called(site) == "torch.nn.Parameter" or is_trained(there, site, seen):
                return True
    return False


def is_made_module(objects: Objects, value: ir.Expr, point: Point) -> bool:
    """Is a value a new module for certain, with parameters or without?"""
    made = [origin.site for origin in objects.origins(value, point)]
    return bool(made) and all(site is not None and _makes_module(objects, site) for site in made)


def _makes_module(objects: Objects, site: CallSite) -> bool:
    where = objects.at(site.point)
    if where.called(site).startswith(("torch.nn.utils", "torch.nn.functional", "torch.nn.init")):
        return where.called(site) in _HANDS_ON
    if where.called(site).startswith("torch.nn."):
        return where.called(site) != "torch.nn.Parameter"
    there, cls = where.callee_anywhere(site) or (where, None)
    return isinstance(cls, ir.Class) and is_module(there, cls)


def is_module(objects: Objects, cls: ir.Class) -> bool:
    """Does a class derive from ``torch.nn.Module``, also by classes of other files?"""
    for where, each in ((objects, cls), *bases_elsewhere(objects, cls)):
        scope = where.names.scopes[0]
        for own in where.classes.with_bases(each):
            for base in own.bases:
                dotted = where.names.dotted(base, scope)
                if dotted and where.catalogue.subclass_of(dotted, MODULE):
                    return True
    return False


def _calls_in(expressions: Iterable[ir.Expr]) -> Iterable[ir.Call]:
    return (
        node for each in expressions for node in expressions_in(each) if isinstance(node, ir.Call)
    )
