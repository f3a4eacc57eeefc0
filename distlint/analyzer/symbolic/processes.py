"""Functions that a program runs in processes of its own."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.values import Value
from distlint.analyzer.symbolic.view import IN_PROCESSES, RISKY


def run_processes(
    machine: Interpreter, target: Value, args: list[Value], keywords: dict[str, Value], site: int
) -> Value:
    """Run a function in processes of its own: what fails in one of them ends them all."""
    while isinstance(target, v.Partial):
        args = [*target.args, *args]
        keywords = {**dict(target.keywords), **keywords}
        target = machine.resolve(target.target)
    if not isinstance(target, v.Func):
        return machine.call(target, args, keywords, site, None)
    result = machine.call_function(target, args, keywords, site, (site, IN_PROCESSES))
    machine.store.pop(RISKY, None)  # they have all come to their end
    return result
