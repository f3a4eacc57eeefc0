"""Environment variables: what a launcher sets, and what the program has assigned."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.converting import convert
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.rank_numbers import rank_value, uniform_value
from distlint.analyzer.symbolic.values import Const, Value, unknown


def environment(machine: Interpreter, name: Value, default: Value | None) -> Value:
    """``os.environ[name]``: a string, per rank for the launcher's variables."""
    if not isinstance(name, Const):
        return unknown("env", name)
    assigned = machine.store.get((v.external("os.environ"), str(name.value)))
    if assigned is not None:
        return assigned
    entry = machine.catalogue.env(str(name.value))
    if entry is not None and entry.rank is not None:
        value = rank_value(machine, entry.rank, None)
        return convert(machine, str, value)
    if entry is not None and entry.uniform is not None:
        value = uniform_value(machine, entry.uniform.value, unknown("env", str(name.value)))
        return convert(machine, str, value)
    return unknown("env", str(name.value))
