"""Calls that are not looked into: where they may communicate, all ranks have to make them."""

from __future__ import annotations

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.collective_events import for_all
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.state import OPAQUE, ResultKey
from distlint.analyzer.symbolic.values import Value


def pass_over(
    machine: Interpreter,
    function: ir.Function,
    label: tuple[str, int, str],
    value: Value,
    key: ResultKey,
) -> Value:
    """A call that is not followed: where it may communicate, all ranks have to make it."""
    if not machine.context.may_communicate(function):
        return value
    match = (OPAQUE, *map(str, label))
    raise for_all(machine, function.label, match, machine.site, key, certain=False, value=value)


def handed_over(machine: Interpreter, values: list[Value], name: str, result: Value) -> Value:
    """A call that cannot be looked into and that is given functions which may communicate.

    Such as a server's: what this rank does there, it does in those functions.
    """
    key = (machine.site, machine.inner)
    if key in machine.results or not any(may_run_collectives(machine, value) for value in values):
        return machine.results.get(key, result)
    match = (OPAQUE, name, str(machine.site), machine.frame.module.key)
    raise for_all(machine, name, match, machine.site, key, certain=False, value=result)


def may_run_collectives(machine: Interpreter, value: Value) -> bool:
    while isinstance(value, v.Partial):
        value = value.target
    return isinstance(value, v.Func) and machine.context.may_communicate(value.function)
