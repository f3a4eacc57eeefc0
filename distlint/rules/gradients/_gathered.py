"""Predictions that are gathered with the samples that fill the last batch."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import nodes_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.training import evaluates, is_evaluation

_GATHER = "accelerate.Accelerator.gather"
_MADE_OF_NUMBERS = frozenset(
    f"torch.{name}" for name in ("tensor", "as_tensor", "zeros", "ones", "full", "empty")
)
_DEPTH = 2
"""Through how many calls a loop is looked for."""

_METRICS = ("timm.utils.", "torchmetrics.functional.")
"""Where metrics come from that are a number for a batch, or a few of them."""


def gathers(objects: Objects) -> Iterator[CallSite]:
    """Gathers of what a model gave, in a loop over a loader that evaluates."""
    for site in objects.calls({"gather"}):
        if objects.called(site) != _GATHER:
            continue
        if _is_in_evaluation_loop(objects, site) and not _is_one_value(objects, site):
            yield site


def _is_in_evaluation_loop(objects: Objects, site: CallSite, depth: int = _DEPTH) -> bool:
    """Is it in such a loop, or is the function that it is in only called in such ones?"""
    if _is_cut(objects, site):
        return False
    loop = next((h.owner for h in reversed(site.point.around) if is_loop(h.owner)), None)
    if loop is not None:
        return isinstance(loop, ir.For) and _is_evaluation_loop(loop, site.point)
    function = site.point.scope.function
    callers = list(objects.callers_anywhere(function)) if function is not None and depth else []
    return bool(callers) and all(_is_in_evaluation_loop(*each, depth - 1) for each in callers)


def _is_one_value(objects: Objects, site: CallSite) -> bool:
    """Is it a value of each rank that is gathered, and not one of each sample?"""
    given = objects.argument(site, "tensor", 0).value
    origins = list(objects.origins(given, site.point)) if given is not None else []
    return bool(origins) and all(
        (bool(origin.attributes) and origin.attributes[-1] == "loss")
        or (isinstance(origin.node, ir.Attribute) and origin.node.attr == "loss")
        or (origin.site is not None and _makes_one(objects, origin.site))
        or (
            isinstance(origin.node, ir.Call)
            and not origin.attributes
            and objects.called(CallSite(origin.node, origin.point)).startswith(_METRICS)
        )
        for origin in origins
    )


def _makes_one(objects: Objects, made: CallSite) -> bool:
    if objects.called(made) in _MADE_OF_NUMBERS:
        return True
    return made.name in ("sum", "mean") and not made.call.args


def _is_evaluation_loop(loop: ir.For, point: Point) -> bool:
    function = point.scope.function
    if function is not None and ("backward" in function.tokens or function.name[:5] == "test_"):
        return False  # training, or a test of the framework itself
    tokens = ir.tokens_of(loop.iterable)
    loaded = any("loader" in token.lower() or token.endswith("_dl") for token in tokens)
    return loaded and (evaluates(point) or any(is_evaluation(token) for token in tokens))


def _is_cut(objects: Objects, site: CallSite) -> bool:
    """Are gathered tensors cut to a length somewhere in the function?"""
    for point in objects.points_in(site.point.scope):
        for node in nodes_of(point.statement):
            if isinstance(node, ir.Slice) and node.upper is not None:
                if not isinstance(node.upper, (ir.Literal, ir.Unary)):
                    return True
    return False


def is_loop(statement: ir.Stmt | None) -> bool:
    return isinstance(statement, (ir.For, ir.While))
