"""Whether gradients are recorded where a rank runs a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.continuations import EndOfActivation
from distlint.analyzer.symbolic.values import Const
from distlint.analyzer.symbolic.view import GRADIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distlint.analyzer.symbolic.interpreter import Interpreter
    from distlint.analyzer.symbolic.state import Frame


def arms_backward(machine: Interpreter, target: v.Obj) -> bool:
    """Does a forward of a wrapped model record gradients that a backward will reduce?"""
    return ("nosync", target.oid) not in machine.store and records_gradients(machine)


def records_gradients(machine: Interpreter) -> bool:
    """Are gradients recorded, as far as contexts and decorators of functions in hand tell?"""
    mode = machine.store.get(GRADIENTS)
    if isinstance(mode, Const):
        return bool(mode.value)
    modes = (_decorated(machine, frame) for frame in _frames(machine))
    return next((mode for mode in modes if mode is not None), True)


def _frames(machine: Interpreter) -> Iterator[Frame]:
    """The activations in hand, the innermost first."""
    yield machine.frame
    k = machine.k
    while k is not None:
        if isinstance(k, EndOfActivation):
            yield k.caller
        k = k.next


def _decorated(machine: Interpreter, frame: Frame) -> bool | None:
    """Whether the decorators of a function let gradients be recorded; None if they do not tell."""
    for decorator in frame.function.decorators if frame.function is not None else ():
        node = decorator.func if isinstance(decorator, ir.Call) else decorator
        value = machine.evaluate_statically(frame.module, node)
        entry = machine.catalogue.lookup(value.name) if isinstance(value, v.External) else None
        if entry is not None and entry.gradients is not None and not entry.gradients.enabled_by:
            return entry.gradients.enabled
    return None
