"""Gradients that a script averages itself, without a wrapper."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import Scope, calls_of
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite

_REDUCES = frozenset({"all_reduce", "all_reduce_coalesced", "allreduce", "all_gather"})
_NO_GRADIENTS = frozenset(
    {
        "no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled", "zero_grad",
        "requires_grad", "requires_grad_", "GradScaler", "clip_grad_norm_", "clip_grad_value_",
    }
)  # fmt: skip
"""Words with ``grad`` that are not about what is reduced, as in an evaluation under no_grad."""
_DEPTH = 2
"""Through how many calls a function is followed that may reduce gradients."""


def reduces_gradients(objects: Objects) -> bool:
    """Does the module average gradients itself?"""
    return any(
        _names_gradients(token)
        for site in objects.calls(_REDUCES)
        for token in ir.tokens_of(site.call)
    )


def _names_gradients(token: str) -> bool:
    return "grad" in token.lower() and token not in _NO_GRADIENTS


def calls_for_average(objects: Objects, scope: Scope) -> bool:
    """Does a function call one of the project that reduces gradients, through a few others?"""
    return any(
        _averages(objects, CallSite(call, point), _DEPTH)
        for point in objects.points_in(scope)
        for call in calls_of(point.statement)
    )


def _averages(objects: Objects, site: CallSite, depth: int) -> bool:
    found = function_called(objects, site)
    if found is None:
        return False
    there, function = found
    if not _REDUCES.isdisjoint(function.tokens):
        if any(map(_names_gradients, function.tokens)):
            return True
    scope = there.scope_of(function)
    return depth > 0 and any(
        _averages(there, CallSite(call, point), depth - 1)
        for point in (there.points_in(scope) if scope is not None else ())
        for call in calls_of(point.statement)
    )
