"""Layers with parameters, where a value is made of them."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in, expressions_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

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


def _calls_in(expressions: Iterable[ir.Expr]) -> Iterable[ir.Call]:
    return (
        node for each in expressions for node in expressions_in(each) if isinstance(node, ir.Call)
    )
