"""A function of one argument, applied to each value that a value may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Const, Value, const, unknown


def convert(machine: Interpreter, function: Callable[[Any], Any], value: Value) -> Value:
    """Apply a function of one argument to every concrete part of a value."""
    try:
        if isinstance(value, Const):
            return const(function(value.value))
        if isinstance(value, v.PerRank):
            return v.ranked([function(item) for item in value.values])
        if isinstance(value, v.WorldSizeExpr):
            return v.world(function(value.value), tuple(map(function, value.samples)))
        if isinstance(value, v.Phi):
            return v.phi(
                value.test,
                convert(machine, function, value.then),
                convert(machine, function, value.orelse),
            )
    except (TypeError, ValueError, OverflowError):
        pass
    return unknown(getattr(function, "__name__", "convert"), value)
